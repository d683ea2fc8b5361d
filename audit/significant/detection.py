"""What is significant is found in the order of the event log's leaves, each read once by each finder. The floors above
register finders when they are ready, since the ground floor knows neither money nor players.

A finder that comes to a house which has been running begins with its first leaf: what happened before anybody looked
is found late rather than never. It reads in batches, so that a long past keeps no worker for long. That nothing was
passed over is looked at every night (`audit.significant.rescan`).
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db import connection, transaction

from audit import log
from audit.models import Category, Cursor, Event, Significant, Weight
from audit.sealing import sealer

logger = logging.getLogger(__name__)

BATCH: Final = 4096  # leaves a finder reads in one transaction
MOST: Final = 16  # batches of one call
FAILED: Final = "finder.failed"  # the kind of event

INSERT: Final = """
    INSERT INTO audit_significant
        (key, category, weight, event_id, "on", currency, amount, title, because, rows, happened_at,
            state, assigned_to)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s, 'new', '') ON CONFLICT (key) DO NOTHING
"""


@dataclass(frozen=True)
class Leaves:
    """Leaves *first* up to, not including, *end* of the event log."""

    first: int
    end: int


@dataclass(frozen=True)
class Found:
    """Something significant. *key* names it: found again, it stays one. *rows* are what it follows from, each with
    headings and values as staff read them.

    What was found is kept for good, so nothing in it may be personal data; players are called as events call them.
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
    because: str = ""
    rows: Sequence[Mapping[str, str]] = field(default=())


Finder = Callable[[Leaves], Iterable[Found]]
Significance = tuple[Category, Weight, str]
"""What a kind of event is, how much it matters, and what staff read."""

_finders: dict[str, Finder] = {}
_always: set[str] = set()
_kinds: dict[str, Significance] = {}
_ordinary: set[str] = set()


def register(name: str, finder: Finder, *, is_always: bool = False) -> None:
    """Have *finder* read every leaf of the event log once, in order; *name* stays the same for the life of the house.

    What it writes, and what it found, are one transaction. Where it raises, that is told to staff once, and the same
    leaves are tried again at every call. Every night it reads those of the last day a second time
    (`audit.significant.rescan`); back beyond a change of thresholds only where it *is_always* to find the same.
    """
    _finders[name] = finder
    if is_always:
        _always.add(name)


def finders() -> list[tuple[str, Finder, bool]]:
    """Return every finder with its name, and whether it finds the same whatever thresholds are."""
    return [(name, finder, name in _always) for name, finder in sorted(_finders.items())]


def register_kinds(categories: Mapping[str, Significance]) -> None:
    """Say which kinds of events are significant by themselves, each an exact kind as it stands in the log."""
    _kinds.update(categories)


def register_ordinary(kinds: Iterable[str]) -> None:
    """Say which kinds of events matter to nobody by themselves: what happens in play all day, what has a queue of its
    own where staff work on it, and what a finder reads.
    """
    _ordinary.update(kinds)


def kinds() -> Mapping[str, Significance | None]:
    """Return every kind of event that somebody spoke of, with what it is; None for an ordinary one."""
    return dict.fromkeys(_ordinary) | _kinds


def find() -> int:
    """Have every finder read what has been sealed since, at most `MOST` batches of it, and return how much was found.
    Two at once find it once: who comes second leaves a finder to the first.
    """
    size = sealer.leaves()
    _enrol(_finders)
    return sum(_find(name, finder, size) for name, finder in sorted(_finders.items()))


def keep(found: Found) -> int:
    """Write what was found, and return 1, or 0 where it was found before."""
    values: list[str | int | datetime | None] = [
        found.key,
        found.category.value,
        found.weight.value,
        found.event,
        found.on,
        found.currency,
        found.amount,
        found.title,
        found.because,
        json.dumps([dict(row) for row in found.rows], ensure_ascii=False),
        found.happened_at,
    ]
    with connection.cursor() as cursor:
        cursor.execute(INSERT, values)
        return cursor.rowcount


def events(leaves: Leaves, *kinds: str) -> list[Event]:
    """Return the events of *kinds* among *leaves*, in their order; of all kinds where none is given."""
    found = Event.objects.filter(leaf__leaf__gte=leaves.first, leaf__leaf__lt=leaves.end)
    return list((found.filter(kind__in=kinds) if kinds else found).order_by("leaf__leaf"))


def data(event: Event) -> Mapping[str, log.Json]:
    """Return what *event* says beyond who did what to whom."""
    said: Mapping[str, log.Json] = json.loads(bytes(event.body))["data"]
    return said


def by_kind(leaves: Leaves) -> Iterable[Found]:
    """Find events that are significant by themselves, each with what it says."""
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
            because=f"An event “{event.kind}” is significant by itself. It was done by {event.by}.",
            rows=[{"What": what, "Value": value} for what, value in _flat(data(event))],
        )


def _find(name: str, finder: Finder, size: int) -> int:
    """Have one finder read, whatever it trips over: the others go on."""
    found = 0
    for _ in range(MOST):
        try:
            read = _read(name, finder, size)
        except Exception as error:
            logger.exception("%s finds nothing", name)
            _tell(name, error)
            return found
        if read is None:
            return found
        found += read
    return found


@transaction.atomic
def _read(name: str, finder: Finder, size: int) -> int | None:
    """Have *finder* read the next batch, and return how much it found; None where nothing is left, or another reads."""
    cursor = _cursor(name)
    if cursor is None or cursor.leaves >= size:
        return None
    leaves = Leaves(cursor.leaves, min(cursor.leaves + BATCH, size))
    found = sum(keep(each) for each in finder(leaves))
    Cursor.objects.filter(pk=name).update(leaves=leaves.end)
    return found


def _enrol(names: Iterable[str]) -> None:
    """Give every finder that is new a place, committed before it reads: else a second worker would wait for the first
    one's whole reading to learn whether there is one.
    """
    known = set(Cursor.objects.values_list("name", flat=True))
    Cursor.objects.bulk_create([Cursor(name=name) for name in sorted(set(names) - known)], ignore_conflicts=True)


def _cursor(name: str) -> Cursor | None:
    """Return how far *name* has read, and let nobody else read meanwhile; None where somebody does."""
    return Cursor.objects.select_for_update(skip_locked=True).filter(pk=name).first()


@transaction.atomic
def _tell(name: str, error: Exception) -> None:
    """Record that a finder cannot go on, once for each leaf it stands at. It is found here and not by its kind: that
    finder may be the one that fails.
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
            title="Significant events cannot be found",
            happened_at=Event.objects.get(pk=event).at,
            event=event,
            because=f"“{name}” stopped at leaf {cursor.leaves} of the event log, and tries again every few seconds. "
            "What it would have found since then is missing here. The worker's log says why.",
            rows=[{"What": each, "Value": str(value)} for each, value in what.items()],
        )
    )


def _flat(value: log.Json, name: str = "") -> Iterable[tuple[str, str]]:
    """Say what an event says line by line: a thing within a thing has both names."""
    if isinstance(value, Mapping):
        for each, part in value.items():
            yield from _flat(part, f"{name} {each}".strip().replace("_", " "))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, part in enumerate(value, 1):
            yield from _flat(part, f"{name} {number}")
    else:
        yield name, "—" if value is None else str(value)
