"""Detection of significant events: each finder reads every leaf of the event log once and in order.
Other apps register finders when they are ready, because this app knows neither money nor players.

A finder that is added to a running system starts at the first leaf: past events are found late
rather than never. It reads in batches, so that a long backlog does not occupy a worker. A nightly
check makes sure that nothing was skipped (`audit.significant.detection`).
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import Min
from django.utils.translation import gettext, gettext_noop

from audit import id_ranges, log
from audit.models import Category, Cursor, Event, Leaf, Significant, Threshold, Weight, Work
from audit.sealing import sealer
from audit.significant import workflow
from audit.staff_text import Stored, sentence

CHANGED: Final = "threshold.changed"  # event kind
KEPT: Final = "significant.found"  # event kind
LONGEST: Final = 366  # days


class ThresholdError(Exception):
    """Thresholds were not changed; the message tells staff why."""


@dataclass(frozen=True)
class Limit:
    """Thresholds in minor units: for a single amount, and for the sum over some days."""

    single: int
    summed: int
    days: int


def threshold(what: str, currency: str) -> Limit | None:
    """Return the thresholds of *what* in *currency*, None where there are none."""
    return thresholds(what).get(currency)


def thresholds(what: str) -> dict[str, Limit]:
    """Return the thresholds of *what*, by currency."""
    return {
        each.currency: Limit(each.single, each.summed, each.days)
        for each in Threshold.objects.filter(what=what).order_by("currency")
    }


@transaction.atomic
def change(*, what: str, currency: str, before: Limit, after: Limit, reason: str, by: str) -> None:
    """Change the thresholds of *what* in *currency*. Existing findings stay as they are.

    *before* is the value that the person saw. Raises ThresholdError where it is no longer current,
    where *after* is the same or invalid, and without a reason.
    """
    if not reason.strip():
        raise ThresholdError(gettext("Enter a reason for the change."))
    if after.single < 1 or after.summed < after.single or not 1 <= after.days <= LONGEST:
        raise ThresholdError(
            gettext("The single amount must be above zero, the total not below it, and the days from 1 to %(longest)s.")
            % {"longest": LONGEST}
        )
    found = Threshold.objects.select_for_update().filter(what=what, currency=currency).first()
    if found is None or Limit(found.single, found.summed, found.days) != before:
        raise ThresholdError(gettext("Another person has changed this threshold. Check the current values."))
    if after == before:
        raise ThresholdError(gettext("The values are unchanged."))
    data: dict[str, log.Json] = {"before": _said(before), "after": _said(after), "reason": reason.strip()}
    log.record(CHANGED, by=by, on=f"threshold:{what}:{currency}", data=data)
    Threshold.objects.filter(what=what, currency=currency).update(
        single=after.single, summed=after.summed, days=after.days
    )


def _said(limit: Limit) -> dict[str, log.Json]:
    return {"single": limit.single, "summed": limit.summed, "days": limit.days}


logger = logging.getLogger(__name__)

BATCH: Final = 4096  # leaves per transaction of a finder
MOST: Final = 16  # batches per call
FAILED: Final = "finder.failed"  # event kind

INSERT: Final = """
    INSERT INTO audit_significant
        (key, category, weight, event_id, "on", currency, amount, title, because, rows, happened_at,
            state, assigned_to)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s::jsonb, %s, %s, '') ON CONFLICT (key) DO NOTHING
    RETURNING id, audit_significant_digest(audit_significant)
"""


@dataclass(frozen=True)
class Leaves:
    """Leaves *first* up to and excluding *end* of the event log."""

    first: int
    end: int


@dataclass(frozen=True)
class Found:
    """A significant event to store. *key* identifies it: found again, it is not stored twice.
    *because* says why, as a stored sentence. *rows* are the evidence, each with headings and values.

    It is kept forever, so it must not contain personal data; players are named as in events.
    """

    key: str
    category: Category
    weight: Weight
    on: str
    title: str
    happened_at: datetime
    event: int | None = None
    currency: str = ""
    amount: int | None = None  # minor units
    because: Stored | str = ""
    rows: Sequence[Mapping[str, str]] = field(default=())
    is_set_up: bool = False  # belongs to the set-up of the house: stored, but closed at once


Finder = Callable[[Leaves], Iterable[Found]]
Significance = tuple[Category, Weight, str]
"""Category, weight, and title for staff of an event kind."""

_finders: dict[str, Finder] = {}
_always: set[str] = set()
_kinds: dict[str, Significance] = {}
_ordinary: set[str] = set()
_set_up: set[str] = set()
SOMEBODY_CAME: Final = "session.began"  # event kind
WHAT: Final = gettext_noop("What")  # headings of evidence
VALUE: Final = gettext_noop("Value")
SET_UP: Final = "Closed by the set-up of the house: this happened before anybody had ever logged in."


def register(name: str, finder: Finder, *, is_always: bool = False) -> None:
    """Have *finder* read every leaf of the event log once, in order; *name* must never change.

    Its findings and its position are committed in one transaction. If it raises, staff are notified
    once and the same leaves are tried again at every call. Every night it reads the leaves of the
    last day again (`audit.significant.detection`); those before a change of thresholds only if
    *is_always*, which means that its findings do not depend on thresholds.
    """
    _finders[name] = finder
    if is_always:
        _always.add(name)


def finders() -> list[tuple[str, Finder, bool]]:
    """Return every finder with its name, and whether its findings are independent of thresholds."""
    return [(name, finder, name in _always) for name, finder in sorted(_finders.items())]


def register_kinds(categories: Mapping[str, Significance]) -> None:
    """Register event kinds that are significant by themselves; each is an exact kind."""
    _kinds.update(categories)


def register_set_up(kinds: Iterable[str]) -> None:
    """Register event kinds that the set-up of a house causes. Those by the system, before anybody has ever
    logged in, are stored as any other, and closed with `SET_UP` as the comment.
    """
    _set_up.update(kinds)


def register_ordinary(kinds: Iterable[str]) -> None:
    """Register event kinds that are not significant by themselves: ordinary play, what staff handle
    in a queue of its own, and what a finder reads.
    """
    _ordinary.update(kinds)


def kinds() -> Mapping[str, Significance | None]:
    """Return every registered event kind with its significance; None for an ordinary one."""
    return dict.fromkeys(_ordinary) | _kinds


def find() -> int:
    """Have every finder read newly sealed leaves, at most `MOST` batches, and return the number of
    findings. Of two concurrent calls, the second skips a finder that the first is running.
    """
    size = sealer.leaves()
    _enrol(_finders)
    return sum(_find(name, finder, size) for name, finder in sorted(_finders.items()))


def keep(found: Found) -> int:
    """Store a finding and record that; return 1, or 0 where it was stored before."""
    values: list[str | int | datetime | None] = [
        found.key,
        found.category.value,
        found.weight.value,
        found.event,
        found.on,
        found.currency,
        found.amount,
        found.title,
        json.dumps(found.because, ensure_ascii=False),
        json.dumps([dict(row) for row in found.rows], ensure_ascii=False),
        found.happened_at,
        (Work.CASE if found.category is Category.LAUNDERING else Work.NEW).value,
    ]
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(INSERT, values)
            row = cursor.fetchone()
        if row:
            # Not about its subject: the player reads events about themselves, and may not know of a suspicion.
            log.record(KEPT, by="system", on=f"significant:{row[0]}", data={"sha256": row[1]})
            if found.is_set_up:
                workflow.close_set_up(row[0], SET_UP)
    return 1 if row else 0


def events(leaves: Leaves, *kinds: str) -> list[Event]:
    """Return the events of *kinds* (all if none is given) among *leaves*, in order."""
    found = Event.objects.filter(leaf__leaf__gte=leaves.first, leaf__leaf__lt=leaves.end)
    return list((found.filter(kind__in=kinds) if kinds else found).order_by("leaf__leaf"))


def data(event: Event) -> Mapping[str, log.Json]:
    """Return the ``data`` of an event."""
    said: Mapping[str, log.Json] = json.loads(bytes(event.body))["data"]
    return said


def by_kind(leaves: Leaves) -> Iterable[Found]:
    """Find events that are significant by their kind."""
    for event in events(leaves, *_kinds):
        category, weight, title = _kinds[event.kind]
        yield Found(
            key=f"event:{event.pk}",
            category=category,
            weight=weight,
            on=event.on,
            title=title,
            happened_at=event.at,
            event=event.pk,
            because=sentence(
                gettext_noop("An event “%(kind)s” is always significant. Performed by %(by)s."),
                kind=event.kind,
                by=event.by,
            ),
            rows=[{WHAT: what, VALUE: value} for what, value in _flat(data(event))],
            is_set_up=_is_set_up(event),
        )


def _is_set_up(event: Event) -> bool:
    if event.kind not in _set_up or event.by != "system":
        return False
    return not Event.objects.filter(kind=SOMEBODY_CAME, pk__lt=event.pk).exists()


def _find(name: str, finder: Finder, size: int) -> int:
    """Run one finder and catch any exception, so that the others run."""
    found = 0
    for _ in range(MOST):
        try:
            read = _read(name, finder, size)
        except Exception as error:
            logger.exception("%s finds nothing", name)
            _log_failure(name, error)
            return found
        if read is None:
            return found
        found += read
    return found


@transaction.atomic
def _read(name: str, finder: Finder, size: int) -> int | None:
    """Have *finder* read the next batch and return the number of findings; None where nothing is
    left or it is locked.
    """
    cursor = _cursor(name)
    if cursor is None or cursor.leaves >= size:
        return None
    leaves = Leaves(cursor.leaves, min(cursor.leaves + BATCH, size))
    found = sum(keep(each) for each in finder(leaves))
    Cursor.objects.filter(pk=name).update(leaves=leaves.end)
    return found


def _enrol(names: Iterable[str]) -> None:
    """Add rows for new finders and commit them before they read. Otherwise a second worker would
    wait for the first one's whole transaction to insert the same row.
    """
    known = set(Cursor.objects.values_list("name", flat=True))
    Cursor.objects.bulk_create([Cursor(name=name) for name in sorted(set(names) - known)], ignore_conflicts=True)


def _cursor(name: str) -> Cursor | None:
    """Lock and return the position of a finder; None where another worker has it locked."""
    return Cursor.objects.select_for_update(skip_locked=True).filter(pk=name).first()


@transaction.atomic
def _log_failure(name: str, error: Exception) -> None:
    """Record that a finder failed, once per position. The finding is stored here and not by event
    kind, because that finder may be the one that fails.
    """
    cursor = _cursor(name)
    key = f"finder:{name}:{cursor.leaves if cursor else 0}"
    if cursor is None or Significant.objects.filter(key=key).exists():
        return
    what: dict[str, log.Json] = {"finder": name, "leaf": cursor.leaves, "error": type(error).__name__}
    event = log.record(FAILED, by="system", on="significant", data=what)
    keep(
        Found(
            key=key,
            category=Category.ERROR,
            weight=Weight.ALERT,
            on="significant",
            title=gettext_noop("Detection of significant events failed"),
            happened_at=Event.objects.get(pk=event).at,
            event=event,
            because=sentence(
                gettext_noop(
                    "“%(name)s” stopped at leaf %(leaf)s of the audit log and retries every few seconds. "
                    "Significant events since then are missing here. See the worker’s log for the cause."
                ),
                name=name,
                leaf=cursor.leaves,
            ),
            rows=[{WHAT: each, VALUE: str(value)} for each, value in what.items()],
        )
    )


def _flat(value: log.Json, name: str = "") -> Iterable[tuple[str, str]]:
    """Flatten the data of an event to lines; nested names are joined."""
    if isinstance(value, Mapping):
        for each, part in value.items():
            yield from _flat(part, f"{name} {each}".strip().replace("_", " "))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, part in enumerate(value, 1):
            yield from _flat(part, f"{name} {number}")
    else:
        yield name, "—" if value is None else str(value)


BACK: Final = timedelta(hours=30)  # more than from one night to the next
MISSED: Final = "significant.missed"  # event kind
MOST_LISTED: Final = 100  # keys that one event names


@dataclass(frozen=True)
class Amiss:
    """Findings of the last day that are missing or stored with other contents, by key."""

    missing: Mapping[str, Found]
    other: Mapping[str, Found]

    def still(self, later: "Amiss") -> "Amiss":
        """Return what is still missing or different in *later*."""
        return Amiss(
            {key: each for key, each in self.missing.items() if key in later.missing},
            {key: each for key, each in self.other.items() if key in later.other},
        )


def scan() -> int:
    """Read the leaves of the last day again, store missing findings, and return their number. A
    finding that is stored with other contents is stored again under another key.
    """
    amiss = _amiss()
    if not (amiss.missing or amiss.other):
        return 0
    # Finders query current state, which may include events that are not read yet: seal and read
    # them, then compare again.
    sealer.seal()
    find()
    amiss = amiss.still(_amiss())
    late = {key for key, each in amiss.missing.items() if keep(each)}
    other = {key for key, each in amiss.other.items() if keep(replace(each, key=f"again:{key}"))}
    if late or other:
        details: dict[str, log.Json] = {
            "late": len(late),
            "late_keys": sorted(late)[:MOST_LISTED],
            "other": len(other),
            "other_keys": sorted(other)[:MOST_LISTED],
        }
        log.record(MISSED, by="system", on="significant", data=details)
    return len(late) + len(other)


def _amiss() -> Amiss:
    first, changed = _since(datetime.now(UTC) - BACK)
    found: dict[str, Found] = {}
    for name, finder, is_always in finders():
        # The thresholds before a change are not known any more.
        begin = first if is_always else max(first, changed)
        end = Cursor.objects.filter(pk=name).values_list("leaves", flat=True).first() or 0
        try:
            for leaf in range(begin, end, BATCH):
                for each in finder(Leaves(leaf, min(leaf + BATCH, end))):
                    found.setdefault(each.key, each)
        except Exception:
            logger.exception("%s does not read again", name)  # staff were notified at its first reading, or will be
    there = {
        key: rest
        for key, *rest in Significant.objects.filter(key__in=list(found)).values_list("key", "category", "weight", "on")
    }
    missing = {key: each for key, each in found.items() if key not in there}
    other = {key: each for key, each in found.items() if key in there and there[key] != _what(each)}
    return Amiss(missing, other)


def _what(found: Found) -> list[str | int]:
    return [found.category.value, found.weight.value, found.on]


def _since(moment: datetime) -> tuple[int, int]:
    """Return the first leaf since *moment*, and the leaf after the last change of thresholds, 0 without one."""
    lowest = id_ranges.first_id("audit_event", moment)
    first = Leaf.objects.filter(event_id__gte=lowest).aggregate(first=Min("leaf"))["first"]
    last = Event.objects.filter(kind=CHANGED, pk__gte=lowest).order_by("-pk").first()
    changed = Leaf.objects.filter(event=last).values_list("leaf", flat=True).first() if last else None
    size = sealer.leaves()
    if last and changed is None:
        changed = size  # it is not sealed yet
    return (size if first is None else first), (0 if changed is None else changed + 1)
