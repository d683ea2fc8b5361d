"""What is wrong with the log and lasts for a while: recorded when it begins and when it ends, and told to people once.

Whom it is told to, and how, the floor above says when it is ready (`register`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db import connection, transaction

from audit import log
from audit.models import Event

LOCK: Final = (1012, 1)  # so that two who find it at once say it once
SUBJECT: Final = "log"


@dataclass(frozen=True)
class Alarm:
    """The kinds of events with which a state of the log begins and ends."""

    begins: str
    ends: str


REFUSED: Final = Alarm("log.refused", "log.accepted")
LAGS: Final = Alarm("log.lags", "log.caught_up")

Tell = Callable[[str, Mapping[str, log.Json]], None]
_tellers: list[Tell] = []


def register(tell: Tell) -> None:
    """Have *tell* called with the kind of event and its data when a state begins or ends, in the same transaction."""
    _tellers.append(tell)


def begun(alarm: Alarm) -> Event | None:
    """Return the event with which the state began that lasts now, None where it does not."""
    first, last = (
        Event.objects.filter(kind=kind, on=SUBJECT).order_by("-pk").first() for kind in (alarm.begins, alarm.ends)
    )
    return first if first and (last is None or last.pk < first.pk) else None


def begin(alarm: Alarm, data: Mapping[str, log.Json]) -> None:
    """Record that the state has begun, unless it lasts already."""
    if begun(alarm) is None:
        _change(alarm.begins, data, lambda: begun(alarm) is None)


def end(alarm: Alarm, data: Mapping[str, log.Json]) -> None:
    """Record that the state is over, where it lasted."""
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
