"""Finds rows of a time by their ids: tables that only grow are numbered nearly in the order of their times, and need no
index of them beside that of their ids.

A row takes its number and its time in one transaction, in either order, and a transaction lasts `LONGEST` seconds at
most: by no more can two rows stand in the wrong order.
"""

from datetime import datetime, timedelta

from django.db import connection
from psycopg import sql

from audit.reports.kinds import Interval
from audit.verify import LONGEST

SLACK = timedelta(seconds=LONGEST)


def ids(table: str, interval: Interval) -> range:
    """Return ids among which are those of all rows of *table* (with columns ``id`` and ``at``) whose time lies in
    *interval*. There are others among them: whoever reads them still asks for the time.
    """
    return range(first_id(table, interval.since), _first(table, interval.until + SLACK))


def first_id(table: str, moment: datetime) -> int:
    """Return an id that no row of *table* at *moment* or later is below."""
    return _first(table, moment - SLACK)


def _first(table: str, moment: datetime) -> int:
    """Return the id of a row from which on rows are at *moment* or later, by halving: each step reads one row."""
    probe = sql.SQL("SELECT id, at FROM {} WHERE id >= %s ORDER BY id LIMIT 1").format(sql.Identifier(table))
    with connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("SELECT coalesce(min(id), 0), coalesce(max(id), -1) + 1 FROM {}").format(sql.Identifier(table))
        )
        low, high = cursor.fetchone()
        while low < high:
            middle = (low + high) // 2
            cursor.execute(probe, [middle])
            found, at = cursor.fetchone()
            if at < moment:
                low = found + 1
            else:
                high = middle
    return int(low)
