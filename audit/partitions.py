"""Monthly partitions of append-only tables, separated by blocks of IDs (``sql/functions/months.sql``)."""

from datetime import UTC, datetime
from typing import Final

from django.db import connection

AHEAD: Final = 3  # months that are created in advance, for when the task does not run
FIRST: Final = 322 << 32
"""The first ID of November 2026, the first month with a partition. Older rows share one table."""
SHIFT: Final = 32  # bits of the IDs within a month


def keep(table: str, door: str | None = None) -> None:
    """Create upcoming partitions of *table*, and start the current month if it is due. The start
    waits for transactions that write into *door* (default: the table itself): a transaction must
    write into *door* before it draws an ID of the table. Can be called twice or late: until then
    rows go into the month before.
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
