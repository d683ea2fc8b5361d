"""Hourly totals: each hour is summed up once, when nothing more can be written into it. Reports
over millions of rounds then read a few thousand rows, and totals never change.

A row takes its time from the clock of its statement and becomes visible when its transaction ends,
in any order. Therefore a task regularly writes a mark in a transaction of its own (`mark`). Once
all transactions that had begun to write before the mark's have ended, everything written before the
mark is visible. The settled time is one minute earlier: a transaction may read the time before it
begins to write, and a clock may be set back (``audit_settled``).

Other apps register what to sum up when they are ready (`register`). Hours begin in UTC.
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
LOCK: Final = 1014  # first key of the advisory locks; the second is the name of the totals
MOST: Final = 200  # steps per call for each kind of totals, so that a long backlog does not occupy a worker
MOST_EMPTY: Final = 10_000  # hours without rows that are entered in one step
Roll = Callable[[datetime], int]
"""Sums up the hour that begins at this time, in the current transaction, and returns the number of rows read."""
First = Callable[[datetime | None], datetime | None]
"""Returns the time of the first row written at or after this time (None: of all rows); None where
there is none.
"""
Differences = Callable[[Interval], Iterable[str]]
"""Recomputes whole hours and describes, in sentences, where stored totals differ."""


@dataclass(frozen=True)
class HourlyTotals:
    """A registered kind of totals."""

    roll: Roll
    first: First
    differences: Differences | None


@dataclass(frozen=True)
class Cut:
    """An interval in two parts: *whole* hours that have totals, and the *ends*, which must be read
    row by row. No part is empty.
    """

    whole: Interval | None
    ends: Sequence[Interval]


_registered: dict[str, HourlyTotals] = {}


def register(totals: str, *, roll: Roll, first: First, differences: Differences | None = None) -> None:
    """Sum up every settled hour with *roll*, starting with that of *first*; *differences* verifies the totals."""
    _registered[totals] = HourlyTotals(roll, first, differences)


def registered() -> Sequence[str]:
    """Return the names of all registered totals."""
    return tuple(_registered)


# A transaction has begun to write when it has an ID. This one takes its ID after `now()` was read,
# so that a transaction with a later ID began to write later. The next ID of a snapshot would not
# do: it could have begun earlier.
WATERMARK = """
    INSERT INTO audit_watermark (at, transaction) VALUES (now(), pg_current_xact_id()::text::bigint) ON CONFLICT DO
        NOTHING
"""
# A usable mark makes all earlier ones useless, including those with transaction IDs from another
# server before a restore.
DROP = "DELETE FROM audit_watermark WHERE at < (SELECT max(at) FROM audit_watermark WHERE audit_is_past(transaction))"


def write_watermark() -> None:
    """Write a mark and delete those that are no longer needed."""
    with connection.cursor() as cursor:
        cursor.execute(WATERMARK)
        cursor.execute(DROP)


def settled() -> datetime | None:
    """Return a time before which every written row is visible; None where no mark gives one yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_settled()")
        moment: datetime | None = cursor.fetchone()[0]
    return moment


def rolled_until(totals: str) -> datetime | None:
    """Return the end of the last hour summed up, without gaps since the first; None if there is none."""
    hour = Rolled.objects.filter(totals=totals).order_by("-hour").values_list("hour", flat=True).first()
    return hour + HOUR if hour else None


def cut(totals: str, intervals: Iterable[Interval]) -> list[Cut]:
    """Divide each of *intervals* into hours with totals and the rest, from one read of the state."""
    rolled = rolled_until(totals)
    return [_cut(interval, rolled) for interval in intervals]


def _cut(interval: Interval, rolled: datetime | None) -> Cut:
    until = min(interval.until, rolled or interval.since)
    whole = Interval(_hour_of(interval.since + HOUR - timedelta.resolution), _hour_of(until))
    if whole.since >= whole.until:
        return Cut(None, (interval,) if interval.since < interval.until else ())
    ends = Interval(interval.since, whole.since), Interval(whole.until, interval.until)
    return Cut(whole, tuple(end for end in ends if end.since < end.until))


def roll_due() -> int:
    """Sum up every hour that is over and settled, each in a transaction, and return their number,
    including empty hours. A long backlog takes several calls; concurrent calls sum up each hour
    once.

    If a kind of totals fails, that is recorded once until it succeeds again; the others continue.
    """
    until, done = settled(), 0
    if until is None:
        return 0
    for name, totals in _registered.items():
        try:
            for _ in range(MOST):
                hours = _step(name, totals, _hour_of(until))
                done += hours
                if not hours:
                    break
        except Exception as error:  # any error concerns these totals only
            logger.error("%s is not summed up", name, exc_info=error)
            _record_failure(name, error)
    return done


@transaction.atomic
def _step(name: str, totals: HourlyTotals, until: datetime) -> int:
    """Sum up the next hour before *until*, or enter empty hours; return the number of hours."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, hashtext(%s))", [LOCK, name])
        if cursor.fetchone() == (False,):
            return 0
    hour = rolled_until(name)
    if hour and hour >= until:
        return 0
    first = totals.first(hour)
    begins = min(_hour_of(first), until) if first else until
    if hour and hour < begins:
        return _enter_empty(name, Interval(hour, min(begins, hour + MOST_EMPTY * HOUR)))
    if begins >= until:
        return 0
    Rolled.objects.create(totals=name, hour=begins, rows=totals.roll(begins))
    return 1


def _enter_empty(name: str, hours: Interval) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_rolled (totals, hour, rows)"
            " SELECT %s, hour, 0 FROM generate_series(%s, %s - interval '1 hour', '1 hour') AS hour",
            [name, hours.since, hours.until],
        )
        return cursor.rowcount


def _record_failure(name: str, error: Exception) -> None:
    said = Event.objects.filter(kind="hourly_totals.failed", on=_on(name)).order_by("-pk").first()
    if said is None or Rolled.objects.filter(totals=name, at__gt=said.at).exists():
        log.record(
            "hourly_totals.failed", by="system", on=_on(name), data={"error": f"{type(error).__name__}: {error}"}
        )


def verify(interval: Interval) -> Iterator[tuple[str, str]]:
    """Recompute all totals of *interval* and yield each difference as the name of the totals and a sentence."""
    for name, totals in _registered.items():
        if totals.differences is None:
            continue
        begins = max(interval.since, _beginning(name, totals) or interval.until)
        whole = _cut(Interval(begins, interval.until), rolled_until(name)).whole
        if whole is not None:
            yield from ((name, message) for message in totals.differences(whole))


def _beginning(name: str, totals: HourlyTotals) -> datetime | None:
    """Return the hour of the first row, or of the first totals if earlier."""
    summed = Rolled.objects.filter(totals=name).order_by("hour").values_list("hour", flat=True).first()
    written = totals.first(None)
    return min((_hour_of(each) for each in (summed, written) if each), default=None)


def _on(name: str) -> str:
    """Return the subject of events about these totals."""
    return f"hourly_totals:{name}"


def _hour_of(moment: datetime) -> datetime:
    """Return the beginning of the hour that contains a time."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
