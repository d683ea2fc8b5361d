"""What the house did is summed up hour by hour, once nothing more can be written into an hour: so reports over millions
of rounds read a few thousand rows, and a sum is never changed.

A row is written at the time that its own statement reads, and seen when its transaction has ended, in any order. So a
task marks the moment now and then, with a transaction of its own (`mark`): when all that had begun to write before that
one have ended, whatever was written before the mark is in sight. A minute less is what counts as settled, for who read
the time and had not begun to write, and for a clock that is set back (``audit_settled``).

What is summed up, the floors above register when they are ready (`register`). Hours begin in UTC.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection, transaction

from audit import log
from audit.models import Event, Rolled
from audit.reports.kinds import Interval

logger = logging.getLogger(__name__)

HOUR: Final = timedelta(hours=1)
LOCK: Final = 1014  # of advisory locks, beside the name of the sums
MOST: Final = 200  # steps of one call for each sums: a long backlog keeps no worker for long
MOST_EMPTY: Final = 10_000  # hours in which nothing was written, entered in one step
MOST_TOLD: Final = 100  # differences that an event names
A_NIGHT: Final = 30 * HOUR
"""What is verified every night: more than from one night to the next, or the hour in which it was done yesterday, and
what was summed up late, would never be.
"""

Roll = Callable[[datetime], int]
"""Sums up the hour that begins then, in the current transaction, and returns how many rows it read."""
First = Callable[[datetime | None], datetime | None]
"""Says when the first row of those written at that moment or later was written, of all where it is None; None where
there is none.
"""
Differences = Callable[[Interval], Iterable[str]]
"""Sums up whole hours anew, and says in sentences where rows that were kept say something else."""


@dataclass(frozen=True)
class Sums:
    """What is summed up, and how."""

    roll: Roll
    first: First
    differences: Differences | None


@dataclass(frozen=True)
class Cut:
    """An interval in two parts: *whole* hours whose sums are there, and what is left at its *ends*, to be read row by
    row. No part is empty.
    """

    whole: Interval | None
    ends: Sequence[Interval]


_registered: dict[str, Sums] = {}


def register(sums: str, *, roll: Roll, first: First, differences: Differences | None = None) -> None:
    """Have every hour summed up by *roll*, once it is settled, from that of *first* on; *differences* checks it."""
    _registered[sums] = Sums(roll, first, differences)


def registered() -> Sequence[str]:
    """Return the name of everything that is summed up."""
    return tuple(_registered)


# A transaction has begun to write when it has a number. This one takes its own after `now()` was read, so that one with
# a later number began to write later. That which a snapshot calls the next one could have begun long before.
MARK = """
    INSERT INTO audit_mark (at, transaction) VALUES (now(), pg_current_xact_id()::text::bigint) ON CONFLICT DO NOTHING
"""
# One that serves makes all before it useless, also those whose transactions are another server's, before a restore.
DROP = "DELETE FROM audit_mark WHERE at < (SELECT max(at) FROM audit_mark WHERE audit_is_past(transaction))"


def mark() -> None:
    """Set a mark now, and drop those that no longer serve."""
    with connection.cursor() as cursor:
        cursor.execute(MARK)
        cursor.execute(DROP)


def settled() -> datetime | None:
    """Return a moment before which every row written is in sight; None where no mark says so yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_settled()")
        moment: datetime | None = cursor.fetchone()[0]
    return moment


def rolled_until(sums: str) -> datetime | None:
    """Return the end of the last hour that is summed up, without a gap from the first one on; None where none is."""
    hour = Rolled.objects.filter(sums=sums).order_by("-hour").values_list("hour", flat=True).first()
    return hour + HOUR if hour else None


def cut(sums: str, intervals: Iterable[Interval]) -> list[Cut]:
    """Divide each of *intervals* into what is summed up and what is not, all at one moment."""
    rolled = rolled_until(sums)
    return [_cut(interval, rolled) for interval in intervals]


def _cut(interval: Interval, rolled: datetime | None) -> Cut:
    until = min(interval.until, rolled or interval.since)
    whole = Interval(_hour_of(interval.since + HOUR - timedelta.resolution), _hour_of(until))
    if whole.since >= whole.until:
        return Cut(None, (interval,) if interval.since < interval.until else ())
    ends = Interval(interval.since, whole.since), Interval(whole.until, interval.until)
    return Cut(whole, tuple(end for end in ends if end.since < end.until))


def roll_due() -> int:
    """Sum up every hour that is over and settled, one transaction each, and return how many, those included in which
    nothing was written. A long backlog takes several calls; two at once do each hour once.

    Where one of the sums fails, that is recorded, once until it goes on again, and the others are made all the same.
    """
    until, done = settled(), 0
    if until is None:
        return 0
    for name, sums in _registered.items():
        try:
            for _ in range(MOST):
                hours = _step(name, sums, _hour_of(until))
                done += hours
                if not hours:
                    break
        except Exception as error:  # whatever it is, the other sums have nothing to do with it
            logger.error("%s is not summed up", name, exc_info=error)
            _record_failure(name, error)
    return done


@transaction.atomic
def _step(name: str, sums: Sums, until: datetime) -> int:
    """Sum up the next hour before *until*, or enter those in which nothing was written; return how many."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, hashtext(%s))", [LOCK, name])
        if cursor.fetchone() == (False,):
            return 0
    hour = rolled_until(name)
    if hour and hour >= until:
        return 0
    first = sums.first(hour)
    begins = min(_hour_of(first), until) if first else until
    if hour and hour < begins:
        return _enter_empty(name, Interval(hour, min(begins, hour + MOST_EMPTY * HOUR)))
    if begins >= until:
        return 0
    Rolled.objects.create(sums=name, hour=begins, rows=sums.roll(begins))
    return 1


def _enter_empty(name: str, hours: Interval) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_rolled (sums, hour, rows)"
            " SELECT %s, hour, 0 FROM generate_series(%s, %s - interval '1 hour', '1 hour') AS hour",
            [name, hours.since, hours.until],
        )
        return cursor.rowcount


def _record_failure(name: str, error: Exception) -> None:
    said = Event.objects.filter(kind="sums.failed", on=_on(name)).order_by("-pk").first()
    if said is None or Rolled.objects.filter(sums=name, at__gt=said.at).exists():
        log.record("sums.failed", by="system", on=_on(name), data={"error": f"{type(error).__name__}: {error}"})


def verify(interval: Interval, *, only: str = "") -> Iterator[tuple[str, str]]:
    """Sum up anew what is summed up of *interval*, all or *only* the sums of that name, and yield each difference as
    the name of the sums and a sentence. What was found is put on record.
    """
    for name, sums in _registered.items():
        if sums.differences is None or only not in ("", name):
            continue
        begins = max(interval.since, _beginning(name, sums) or interval.until)
        whole = _cut(Interval(begins, interval.until), rolled_until(name)).whole
        if whole is None:
            continue
        found = list(sums.differences(whole))
        if found:
            told: dict[str, log.Json] = {
                "count": len(found),
                "differences": found[:MOST_TOLD],
                "since": whole.since.isoformat(),
                "until": whole.until.isoformat(),
            }
            log.record("sums.differ", by="system", on=_on(name), data=told)
        yield from ((name, sentence) for sentence in found)


def _beginning(name: str, sums: Sums) -> datetime | None:
    """Return the hour in which the first row was written, or of the first sum where that is earlier."""
    summed = Rolled.objects.filter(sums=name).order_by("hour").values_list("hour", flat=True).first()
    written = sums.first(None)
    return min((_hour_of(each) for each in (summed, written) if each), default=None)


def verify_last_day() -> int:
    """Do so with the last day, and return how many differences there are."""
    now = datetime.now(UTC)
    return sum(1 for _ in verify(Interval(now - A_NIGHT, now)))


def _on(name: str) -> str:
    """Return how the event log calls sums."""
    return f"sums:{name}"


def _hour_of(moment: datetime) -> datetime:
    """Return the beginning of the hour in which a moment lies."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
