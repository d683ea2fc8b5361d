"""Finds rows of a time by their ids: tables that only grow are numbered nearly in the order of their times, and need no
index of them beside that of their ids.

A row takes its number and its time in one transaction, in either order, and a transaction lasts `LONGEST` seconds at
most: by no more can two rows stand in the wrong order.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Max, Min, QuerySet
from psycopg import sql

from audit.reports.kinds import Interval
from audit.verify import LONGEST

SLACK = timedelta(seconds=LONGEST)


def ids(table: str, interval: Interval) -> range:
    """Return ids among which are those of all rows of *table* (with columns ``id`` and ``at``) whose time lies in
    *interval*. There are others among them: whoever reads them still asks for the time.
    """
    return range(first_id(table, interval.since), _first(table, _off(interval.until, SLACK)))


def first_id(table: str, moment: datetime) -> int:
    """Return an id that no row of *table* at *moment* or later is below."""
    return _first(table, _off(moment, -SLACK))


def keys(rows: QuerySet[Any], key: str, at: str, since: datetime | None, until: datetime | None) -> range:
    """Return what `ids` does where rows are told apart by *key* and have their time at *at*, which may stand in another
    table. Where nothing is said, from the beginning or to the end.
    """
    ends = rows.aggregate(low=Min(key), high=Max(key))
    low, high = (0, 0) if ends["low"] is None else (ends["low"], ends["high"] + 1)

    def probe(number: int) -> tuple[int, datetime]:
        found: tuple[int, datetime] = rows.filter(**{f"{key}__gte": number}).order_by(key).values_list(key, at)[0]
        return found

    first = _halve(low, high, _off(since, -SLACK), probe) if since else low
    return range(first, _halve(first, high, _off(until, SLACK), probe) if until else high)


def _off(moment: datetime, by: timedelta) -> datetime:
    """Return the moment that lies so far off; before the first and after the last that Python knows lies nothing."""
    try:
        return moment + by
    except OverflowError:
        return moment


def _first(table: str, moment: datetime) -> int:
    """Return the id of a row from which on rows are at *moment* or later."""
    probe = sql.SQL("SELECT id, at FROM {} WHERE id >= %s ORDER BY id LIMIT 1").format(sql.Identifier(table))
    with connection.cursor() as cursor:

        def found(number: int) -> tuple[int, datetime]:
            cursor.execute(probe, [number])
            row: tuple[int, datetime] = cursor.fetchone()
            return row

        cursor.execute(
            sql.SQL("SELECT coalesce(min(id), 0), coalesce(max(id), -1) + 1 FROM {}").format(sql.Identifier(table))
        )
        low, high = cursor.fetchone()
        return _halve(int(low), int(high), moment, found)


def _halve(low: int, high: int, moment: datetime, probe: Callable[[int], tuple[int, datetime]]) -> int:
    """Return the number from which on rows are at *moment* or later, by halving: each step reads one row, the first one
    that has this number or a higher one.
    """
    while low < high:
        middle = (low + high) // 2
        found, at = probe(middle)
        if at < moment:
            low = found + 1
        else:
            high = middle
    return low
