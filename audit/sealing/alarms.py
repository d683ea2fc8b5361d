"""Alarms about the event log: recorded and reported once when a condition begins and once when it
ends.

Other apps register who is notified, and how, when they are ready (`register`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db import connection, transaction

from audit import log
from audit.models import Event

LOCK: Final = (1012, 1)  # lets only one of two concurrent callers record
SUBJECT: Final = "log"


@dataclass(frozen=True)
class Alarm:
    """The kinds of the events that record the begin and the end of a condition."""

    begins: str
    ends: str


REFUSED: Final = Alarm("log.refused", "log.accepted")
LAGS: Final = Alarm("log.lags", "log.caught_up")

Tell = Callable[[str, Mapping[str, log.Json]], None]
_tellers: list[Tell] = []


def register(tell: Tell) -> None:
    """Have *tell* called with the kind and data of the event when a condition begins or ends, in
    the same transaction.
    """
    _tellers.append(tell)


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
        for tell in _tellers:
            tell(kind, data)
