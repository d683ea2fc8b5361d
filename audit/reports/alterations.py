"""Report "Events and alterations" (GLI-19 v3.0, 2.9.5): everything that was altered, read from the
event log.

Each app registers, when it is ready, which kinds of events are alterations and how to read them
(`register`). An alteration that takes two people was done by the requester and authorised by the
decider, as its approval says.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection
from django.utils.translation import gettext, gettext_noop

from audit import id_ranges, log
from audit.reports import kinds
from audit.reports.kinds import Answer, Asked, Choice, Column, Form, Interval, Row
from audit.staff_text import marked

# Uses the index on kind and ID. A decision is executed in the transaction of the decision, so the
# event names the decider and follows the decision at once.
FOUND: Final = """
SELECT event.id, event.at, event.kind, event.by, event."on", event.body, asked.by, asked.reason
FROM audit_event AS event
LEFT JOIN LATERAL (
    SELECT approval.by, approval.reason
    FROM audit_approval AS approval JOIN audit_decision AS decision ON decision.approval_id = approval.id
    WHERE approval."on" = event."on" AND decision.verdict = 'approved' AND decision.by = event.by
      AND decision.at BETWEEN event.at - %(slack)s AND event.at + %(slack)s
    ORDER BY approval.id DESC LIMIT 1
) AS asked ON true
WHERE event.kind = ANY (%(kinds)s) AND event.id >= %(first)s AND event.id < %(beyond)s
  AND event.at >= %(since)s AND event.at < %(until)s
ORDER BY event.id
"""
COUNTED: Final = """
SELECT count(*) FROM audit_event AS event
WHERE event.kind = ANY (%(kinds)s) AND event.id >= %(first)s AND event.id < %(beyond)s
  AND event.at >= %(since)s AND event.at < %(until)s
"""


@dataclass(frozen=True)
class ReportEvent:
    """An event from the log; *asked_by* and *asked_because* are the requester and reason of its approval, if any."""

    number: int
    at: datetime
    kind: str
    by: str
    on: str
    data: Mapping[str, log.Json]
    personal: Sequence[str]  # names of its personal values
    asked_by: str
    asked_because: str


def read_events(kinds: Sequence[str], interval: Interval) -> Iterator[ReportEvent]:
    """Yield all events of *kinds* in *interval*, in order, reading in chunks."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(FOUND, _wanted(kinds, interval))
        for number, at, kind, by, on, body, asked_by, because in cursor:
            event = json.loads(bytes(body))
            personal = tuple(sorted(event.get("personal", ())))
            yield ReportEvent(number, at, kind, by, on, event["data"], personal, asked_by or "", because or "")


def count(kinds: Sequence[str], interval: Interval) -> int:
    """Return the number of these events."""
    with connection.cursor() as cursor:
        cursor.execute(COUNTED, _wanted(kinds, interval))
        found: int = cursor.fetchone()[0]
    return found


def _wanted(kinds: Sequence[str], interval: Interval) -> dict[str, Any]:
    ids = id_ranges.ids("audit_event", interval)
    return {
        "kinds": list(kinds),
        "first": ids.start,
        "beyond": ids.stop,
        "since": interval.since,
        "until": interval.until,
        "slack": id_ranges.SLACK,
    }


Data = Mapping[str, log.Json]
NOTHING: Final = ""


@dataclass(frozen=True)
class Change:
    """An alteration as read from an event: values before and after, reason, and requester, where
    the event has them.
    """

    before: log.Json = None
    after: log.Json = None
    reason: str = NOTHING
    asked_by: str = NOTHING


@dataclass(frozen=True)
class Reads:
    """Entry for a kind of event: the component altered, a title, and a function that returns the change."""

    component: str
    title: str
    change: Callable[[Data], Change]


def said(data: Data) -> Change:
    """Read the usual fields ``before``, ``after`` and ``reason``. Of nested values, only the parts that differ."""
    before, after = _differing(data.get("before"), data.get("after"))
    return Change(before, after, _text(data.get("reason")))


def _differing(before: log.Json, after: log.Json) -> tuple[log.Json, log.Json]:
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return before, after
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    parts = {name: _differing(before.get(name), after.get(name)) for name in names}
    was = {name: parts[name][0] for name in names if name in before}
    return was, {name: parts[name][1] for name in names if name in after}


def changed(before: log.Json, after: log.Json, reason: str = "reason") -> Callable[[Data], Change]:
    """Return a reader for events whose kind implies the values before and after; *reason* names the field."""
    return lambda data: Change(before, after, _text(data.get(reason)))


def added(*names: str, reason: str = "reason") -> Callable[[Data], Change]:
    """Return a reader for events that add something: the fields *names* are the values after."""
    return lambda data: Change(None, {name: data.get(name) for name in names}, _text(data.get(reason)))


def became(before: log.Json, name: str, reason: str = "reason") -> Callable[[Data], Change]:
    """Return a reader for events whose kind implies the value before; the field *name* is the value after."""
    return lambda data: Change(before, data.get(name), _text(data.get(reason)))


_read: dict[str, Reads] = {}


def register(component: str, found: Mapping[str, tuple[str, Callable[[Data], Change]]]) -> None:
    """Register kinds of events as alterations of *component*; an app calls this when it is ready.
    Each kind has a title for staff and a reader of its data.
    """
    _read.update({kind: Reads(component, title, change) for kind, (title, change) in found.items()})


def altering() -> Sequence[str]:
    """Return the kinds of events that are alterations."""
    return tuple(sorted(_read))


VALUES: Final = (  # words for values that no other report has
    marked("report", "a passkey"),
    marked("report", "a password"),
    marked("report", "a secret"),
    marked("report", "an address"),
    marked("report", "an authenticator app"),
    marked("report", "another address"),
    marked("report", "another password"),
    marked("report", "another secret"),
    marked("report", "awaits a ruling"),
    marked("report", "borrowed"),
    marked("report", "closed, may log in"),
    marked("report", "closing"),
    marked("report", "codes"),
    marked("report", "ended"),
    marked("report", "gone"),
    marked("report", "holds"),
    marked("report", "in use"),
    marked("report", "off"),
    marked("report", "offered"),
    marked("report", "on"),
    marked("report", "other codes"),
    marked("report", "paused"),
    marked("report", "reported"),
    marked("report", "visible"),
)
COLUMNS: Final = (
    Column("at", "When", Form.TIME),
    Column("component", "Component", Form.WORD),
    Column("by", "Performed by"),
    Column("authorised_by", "Authorised by"),
    Column("reason", "Reason"),
    Column("before", "Value before", Form.WORD),
    Column("after", "Value after", Form.WORD),
    Column("what", "Change", Form.WORD),
    Column("on", "Subject"),
    Column("event", "Event", Form.ID),
)


def answer(asked: Asked) -> Answer:
    """Return the alterations, oldest first."""
    component = asked.choices.get("component", "")
    chosen = [kind for kind, reads in _read.items() if component in ("", reads.component)]
    return Answer(
        rows=map(_row, read_events(chosen, asked.interval)), of=count(chosen, asked.interval), notes=lambda: NOTES
    )


NOTES: Final = (
    gettext_noop("Additions have no value before; removals have no value after."),
    gettext_noop("Values are as recorded in the audit log: amounts in hundredths of the currency, times in UTC."),
    gettext_noop(
        "Personal values are stored only in the audit log, where they can be erased; here they appear as “personal”."
    ),
    gettext_noop("Changes that players make to their own account or limits need no reason and no authorisation."),
)


def _row(event: ReportEvent) -> Row:
    reads, change = _read[event.kind], _read[event.kind].change(event.data)
    first = event.asked_by or change.asked_by
    personal = "personal: " + ", ".join(event.personal) if event.personal else NOTHING
    return (
        event.at.astimezone(UTC).isoformat(),
        reads.component,
        first or event.by,
        event.by if first else NOTHING,
        event.asked_because or change.reason,
        written(change.before),
        "; ".join(part for part in (written(change.after), personal) if part),
        reads.title,
        event.on,
        event.number,
    )


def written(value: log.Json) -> str:
    """Format a value on one line; nested values as "name: value", separated by semicolons."""
    match value:
        case None | "":
            return NOTHING
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return "; ".join(f"{name}: {written(part) or '–'}" for name, part in value.items())
        case Sequence():
            return ", ".join(written(part) for part in value)
        case _:
            return str(value)


def _text(value: log.Json) -> str:
    return value if isinstance(value, str) else NOTHING


def _components() -> Sequence[tuple[str, str]]:
    return tuple((each, gettext(each)) for each in sorted({reads.component for reads in _read.values()}))


def ready() -> None:
    """Register the report, and the alterations recorded by this app."""
    kinds.register(
        kinds.Kind(
            name="alterations",
            title=gettext_noop("Events and alterations"),
            purpose=gettext_noop(
                "All changes to settings, accounts and data: time, person, authorisation, reason, value "
                "before and after."
            ),
            clause="GLI-19 v3.0, 2.9.5",
            columns=COLUMNS,
            answer=answer,
            choices=(Choice("component", "Component", _components),),
            names_players=True,
        )
    )
    register(
        gettext_noop("Approvals"),
        {
            "approval.asked": (gettext_noop("Approval requested"), added("kind", "on", "sha256")),
            "approval.decided": (gettext_noop("Approval decided"), _decided),
            "approval.expired": (
                gettext_noop("Approval request expired"),
                changed("waiting", "expired"),
            ),
            "approval.withdrawn": (
                gettext_noop("Approval request withdrawn"),
                changed("waiting", "withdrawn"),
            ),
        },
    )
    register(
        gettext_noop("Data retention"),
        {
            "retention.changed": (gettext_noop("Retention period changed"), _retention),
            "retention.applied": (gettext_noop("Retention run"), became(None, "gone")),
            "personal.erased": (gettext_noop("Personal values erased"), became(None, "values")),
            "personal.expired": (gettext_noop("Personal values expired"), added("what", "values")),
        },
    )
    register(gettext_noop("Thresholds"), {"threshold.changed": (gettext_noop("Threshold changed"), said)})
    register(gettext_noop("Audit log"), {"log.keys_announced": (gettext_noop("Signing keys announced"), _keys)})


def _decided(data: Data) -> Change:
    reason = _text(data.get("reason"))
    if data.get("yes"):
        return Change("waiting", "approved", reason, _text(data.get("asked_by")))
    return Change("waiting", "refused", reason)


def _keys(data: Data) -> Change:
    return Change({"keys": data.get("signs")}, {"keys": data.get("keys")})


def _retention(data: Data) -> Change:
    return Change({"days": data.get("before")}, {"days": data.get("days")})
