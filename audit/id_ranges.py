"""Search of rows by time through their IDs: append-only tables are numbered nearly in the order of
their times, so they need no index on the time.

A row takes its ID and its time in one transaction, in either order, and a transaction lasts
`LONGEST` seconds at most. Two rows can be out of order by no more than that.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Max, Min, QuerySet
from django.db.models.expressions import RawSQL
from psycopg import sql

from audit.reports.kinds import Interval
from audit.verification.verify import LONGEST

SLACK = timedelta(seconds=LONGEST)

# Bisection inside the database: finds the ID from which on rows are at a time or later. Each step
# reads one row, the first with the middle ID or a higher one.
MIDDLE = "(halving.low + halving.high) / 2"
HALVE = f"""
WITH RECURSIVE halving (low, high) AS (
    SELECT %s::bigint, %s::bigint
    UNION ALL
    SELECT CASE WHEN probe.at < %s THEN probe.id + 1 ELSE halving.low END,
        CASE WHEN probe.at < %s THEN halving.high ELSE {MIDDLE} END
    FROM halving CROSS JOIN LATERAL ({{probe}}) AS probe (id, at) WHERE halving.low < halving.high
)
SELECT max(low) FROM halving
"""  # noqa: S608  (no value of anybody's)


def ids(table: str, interval: Interval) -> range:
    """Return a range that contains the IDs of all rows of *table* (with columns ``id`` and ``at``)
    with times in *interval*. It may contain others, so the caller must also filter by time.
    """
    return range(first_id(table, interval.since), _first(table, _off(interval.until, SLACK)))


def first_id(table: str, moment: datetime) -> int:
    """Return an ID such that all rows of *table* at *moment* or later have this ID or a higher one."""
    return _first(table, _off(moment, -SLACK))


def keys(rows: QuerySet[Any], key: str, at: str, since: datetime | None, until: datetime | None) -> range:
    """Same as `ids` for rows identified by *key* with their time in *at*, which may be in a related
    table. Without *since* or *until* the range starts at the first row or ends at the last.
    """
    ends = rows.aggregate(low=Min(key), high=Max(key))
    if ends["low"] is None:
        return range(0)
    low, high = ends["low"], ends["high"] + 1
    beyond = rows.filter(**{f"{key}__gte": RawSQL(MIDDLE, ())}).order_by(key)  # noqa: S611  (ours)
    probe, values = beyond.values_list(key, at)[:1].query.sql_with_params()
    first = _halve(low, high, _off(since, -SLACK), probe, values) if since else low
    return range(first, _halve(first, high, _off(until, SLACK), probe, values) if until else high)


def _off(moment: datetime, by: timedelta) -> datetime:
    """Return the moment shifted by *by*, or unchanged where Python cannot represent the result."""
    try:
        return moment + by
    except OverflowError:
        return moment


def _first(table: str, moment: datetime) -> int:
    """Return an ID from which on rows are at *moment* or later."""
    ends = sql.SQL("SELECT coalesce(min(id), 0), coalesce(max(id), -1) + 1 FROM {}").format(sql.Identifier(table))
    probe = f"SELECT id, at FROM {connection.ops.quote_name(table)} WHERE id >= {MIDDLE} ORDER BY id LIMIT 1"  # noqa: S608  (a number of ours)
    with connection.cursor() as cursor:
        cursor.execute(ends)
        low, high = cursor.fetchone()
    return _halve(low, high, moment, probe)


def _halve(low: int, high: int, moment: datetime, probe: str, values: Sequence[Any] = ()) -> int:
    """Return the number, from *low* on, from which on rows are at *moment* or later; *high* where
    there is none. *probe* is the query of the first row from `MIDDLE` on: its number and its time.
    """
    with connection.cursor() as cursor:
        cursor.execute(HALVE.format(probe=probe), [low, high, moment, moment, *values])
        (found,) = cursor.fetchone()
    return int(found)


AHEAD: Final = 3  # months that are created in advance, for when the task does not run
FIRST: Final = 322 << 32
"""The first ID of November 2026, the first month with a partition. Older rows share one table."""
SHIFT: Final = 32  # bits of the IDs within a month


def keep(table: str, door: str | None = None) -> None:
    """Create upcoming partitions of *table*, and start the current month if it is due. The start
    waits for transactions that write into the table or into *door*: a transaction must write into
    one of them before it draws an ID. Can be called twice or late: until then rows go into the month
    before.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_keep_months(%s, %s, %s)", [table, AHEAD, door])


def count(table: str) -> None:
    """Update the planner's statistics of *table* over all months."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_count_months(%s)", [table])


def block(moment: datetime) -> int:
    """Return the first ID of the month that contains a time."""
    there = moment.astimezone(UTC)
    return (12 * (there.year - 2000) + there.month - 1) << SHIFT
