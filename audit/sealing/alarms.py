"""Alarms about the event log, and its lag: events that no checkpoint covers yet.

An alarm is recorded and reported once when a condition begins and once when it ends. Other apps
register who is notified, and how, when they are ready (`register`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import connection, transaction

from audit import log
from audit.models import Event
from audit.sealing import checkpoints

LOCK: Final = (1012, 1)  # lets only one of two concurrent callers record
SUBJECT: Final = "log"


@dataclass(frozen=True)
class Alarm:
    """The kinds of the events that record the begin and the end of a condition."""

    begins: str
    ends: str


REFUSED: Final = Alarm("log.refused", "log.accepted")
LAGS: Final = Alarm("log.lags", "log.caught_up")
ALTERED: Final = Alarm("log.altered", "log.verified")  # a leaf or the tree is not what was sealed: nothing is signed
UNWITNESSED: Final = Alarm("log.unwitnessed", "log.witnessed")

Notifier = Callable[[str, Mapping[str, log.Json]], None]
_notifiers: list[Notifier] = []


def register(notifier: Notifier) -> None:
    """Have *notifier* called with the kind and data of the event when a condition begins or ends, in
    the same transaction.
    """
    _notifiers.append(notifier)


def begun(alarm: Alarm) -> Event | None:
    """Return the event that began the current condition, None where it is not active."""
    first, last = (
        Event.objects.filter(kind=kind, on=SUBJECT).order_by("-pk").first() for kind in (alarm.begins, alarm.ends)
    )
    return first if first and (last is None or last.pk < first.pk) else None


def begin(alarm: Alarm, data: Mapping[str, log.Json]) -> None:
    """Record that the condition began, unless it is active."""
    if begun(alarm) is None:
        _change(alarm.begins, data, lambda: begun(alarm) is None)


def end(alarm: Alarm, data: Mapping[str, log.Json]) -> None:
    """Record that the condition ended, if it was active."""
    if begun(alarm):
        _change(alarm.ends, data, lambda: begun(alarm) is not None)


@transaction.atomic
def _change(kind: str, data: Mapping[str, log.Json], still_due: Callable[[], bool]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", LOCK)
    if still_due():
        log.record(kind, by="system", on=SUBJECT, data=data)
        for notifier in _notifiers:
            notifier(kind, data)


# Within one sealing, leaves follow the order of event ids, so the first row of each is the oldest,
# except for transactions that were still open.
OLDEST = """
    SELECT clock_timestamp(), min(event.at) FROM audit_event AS event WHERE event.id IN (
        (SELECT event_id FROM audit_leaf WHERE leaf >= %s ORDER BY leaf LIMIT 1)
        UNION ALL
        (SELECT event_id FROM audit_pending ORDER BY event_id LIMIT 1))
"""


@dataclass(frozen=True)
class Lag:
    """Time of the oldest event that no signed checkpoint covers (None where all are covered), and
    its age in seconds by the database's clock.
    """

    since: datetime | None
    seconds: int

    @property
    def is_long(self) -> bool:
        """True if the lag is longer than ``AUDIT_LAG_SECONDS``."""
        return self.seconds > settings.AUDIT_LAG_SECONDS


def lag() -> Lag:
    """Return the current lag."""
    signed = checkpoints.size()
    with connection.cursor() as cursor:
        cursor.execute(OLDEST, [signed])
        now, since = cursor.fetchone()
    return Lag(since, max(int((now - since).total_seconds()), 0) if since else 0)


def check_seal() -> None:
    """Raise the alarm when the lag is long, and end it when it is not (`alarms.LAGS`)."""
    found = lag()
    if found.is_long and found.since:
        begin(LAGS, {"seconds": found.seconds, "since": found.since.isoformat()})
    elif not found.is_long:
        end(LAGS, {"seconds": found.seconds})
