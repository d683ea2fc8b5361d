"""Months: what only grows is kept in a table for each, told apart by blocks of ids (``sql/functions/months.sql``)."""

from datetime import UTC, datetime
from typing import Final

from django.db import connection

AHEAD: Final = 3  # months that are made before they begin: as long may nobody have come by
FIRST: Final = 322 << 32
"""The first id of November 2026, the month from which on there are months. What is older is kept as one."""
SHIFT: Final = 32  # bits of a month's own ids


def keep(table: str, door: str | None = None) -> None:
    """See to it that *table* has a month to write into, and begin it where it is due, between two of the transactions
    that write into *door*, where whoever draws a number of the table's writes first; the table itself where it is None.
    Twice is harmless, and so is late: rows go on into the month before.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_keep_months(%s, %s, %s)", [table, AHEAD, door])


def count(table: str) -> None:
    """Have PostgreSQL's planner know how the rows of *table* are spread over all months."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_count_months(%s)", [table])


def block(moment: datetime) -> int:
    """Return the first id of the month in which that moment lies."""
    there = moment.astimezone(UTC)
    return (12 * (there.year - 2000) + there.month - 1) << SHIFT
