"""Search of events, in any number of them: each search reads a range of an index."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.contrib.postgres.search import SearchQuery, SearchVectorField
from django.db.models import Func, Max, Min, Q, QuerySet

from audit import id_ranges
from audit.models import Event, Leaf
from audit.reports.kinds import Interval

MOST_LEAVES: Final = 10_000  # largest range in one search
WORDS: Final = Func("body", function="audit_words", output_field=SearchVectorField())


@dataclass(frozen=True)
class Wanted:
    """Search criteria; an empty field matches everything. *leaves* are positions in the log,
    `MOST_LEAVES` at most.
    """

    exact: dict[str, str] = field(default_factory=dict)  # kind, by, on
    since: datetime | None = None
    until: datetime | None = None  # not included
    leaves: range | None = None
    text: str = ""  # beginnings of words in the data of events by staff


def find(wanted: Wanted, *, after: int | None, oldest_first: bool, limit: int) -> list[Event]:
    """Return up to *limit* matching events after the one with the ID *after*, newest first or oldest first."""
    found = query(wanted)
    if after is not None:
        found = found.filter(pk__gt=after) if oldest_first else found.filter(pk__lt=after)
    return list(found.order_by("pk" if oldest_first else "-pk")[:limit])


def query(wanted: Wanted) -> QuerySet[Event]:
    """Return all matching events."""
    found = Event.objects.filter(about(**wanted.exact))
    if wanted.since or wanted.until:
        since, until = (
            wanted.since or datetime.min.replace(tzinfo=UTC),
            wanted.until or datetime.max.replace(tzinfo=UTC),
        )
        ids = id_ranges.ids("audit_event", Interval(since, until))
        found = found.filter(pk__gte=ids.start, pk__lt=ids.stop, at__gte=since, at__lt=until)
    if re.search(r"\w", wanted.text):
        # the condition of the index audit_event_words
        found = found.filter(by__startswith="staff:").exclude(kind="data.accessed").alias(words=WORDS)
        beginnings = " & ".join(f"{word}:*" for word in re.findall(r"\w+", wanted.text))
        found = found.filter(words=SearchQuery(beginnings, config="simple", search_type="raw"))
    if wanted.leaves is not None:
        leaves = Leaf.objects.filter(leaf__gte=wanted.leaves.start, leaf__lt=wanted.leaves.stop)
        # otherwise all events of the kind would be scanned
        ends = leaves.aggregate(low=Min("event"), high=Max("event"))
        found = found.filter(pk__gte=ends["low"] or 0, pk__lte=ends["high"] or 0, pk__in=leaves.values("event"))
    return found


def about(*, on: str = "", **exact: str) -> Q:
    """Return the condition for the exact fields; a bare UUID matches that subject and the round with this ID."""
    if not on:
        return Q(**exact)
    try:
        return Q(**exact, on__in=[on, f"round:{UUID(on)}"])
    except ValueError:
        return Q(**exact, on=on)
