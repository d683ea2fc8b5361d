"""Finding events among any number of them: whatever is asked for, a range of an index gives the next few."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.db.models import Max, Min, Q, QuerySet

from audit import id_ranges
from audit.models import Event, Leaf
from audit.reports.kinds import Interval

MOST_LEAVES: Final = 10_000  # that may be asked for at once


@dataclass(frozen=True)
class Wanted:
    """Which events: an empty field asks for nothing. *leaves* are places in the log, `MOST_LEAVES` at most."""

    exact: dict[str, str] = field(default_factory=dict)  # kind, by, on
    since: datetime | None = None
    until: datetime | None = None  # not included
    leaves: range | None = None


def find(wanted: Wanted, *, after: int | None, oldest_first: bool, limit: int) -> list[Event]:
    """Return so many of the events that fit, newest first or the other way round, that come after the one with the id
    *after*.
    """
    found = query(wanted)
    if after is not None:
        found = found.filter(pk__gt=after) if oldest_first else found.filter(pk__lt=after)
    return list(found.order_by("pk" if oldest_first else "-pk")[:limit])


def query(wanted: Wanted) -> QuerySet[Event]:
    """Return all that fit."""
    found = Event.objects.filter(about(**wanted.exact))
    if wanted.since or wanted.until:
        since, until = (
            wanted.since or datetime.min.replace(tzinfo=UTC),
            wanted.until or datetime.max.replace(tzinfo=UTC),
        )
        ids = id_ranges.ids("audit_event", Interval(since, until))
        found = found.filter(pk__gte=ids.start, pk__lt=ids.stop, at__gte=since, at__lt=until)
    if wanted.leaves is not None:
        leaves = Leaf.objects.filter(leaf__gte=wanted.leaves.start, leaf__lt=wanted.leaves.stop)
        ends = leaves.aggregate(low=Min("event"), high=Max("event"))  # or else all of a kind would be looked through
        found = found.filter(pk__gte=ends["low"] or 0, pk__lte=ends["high"] or 0, pk__in=leaves.values("event"))
    return found


def about(*, on: str = "", **exact: str) -> Q:
    """Return the condition an event has to meet; a bare UUID means whatever is named so, and the round with this id."""
    if not on:
        return Q(**exact)
    try:
        return Q(**exact, on__in=[on, f"round:{UUID(on)}"])
    except ValueError:
        return Q(**exact, on=on)
