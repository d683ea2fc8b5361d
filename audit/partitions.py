"""Months: what only grows is kept in a table for each, told apart by blocks of ids (``sql/functions/months.sql``).

The oldest ones go to an archive. Whatever reads what may lie there asks here first, so that nobody takes for empty what
is only elsewhere.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection

from audit.models import ArchivedMonth
from audit.verification.verify import LONGEST

AHEAD: Final = 3  # months that are made before they begin: as long may nobody have come by
FIRST: Final = 322 << 32
"""The first id of November 2026, the month from which on there are months. What is older is kept as one."""
SLACK: Final = timedelta(seconds=LONGEST)  # of a transaction, in which a row and what it is of are written
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


def archived(row_id: int) -> ArchivedMonth | None:
    """Return the month to whose archive the event or journal of that id has gone; None where it is here."""
    return ArchivedMonth.objects.filter(first__lte=row_id, beyond__gt=row_id).first()


def of_time(at: datetime) -> ArchivedMonth | None:
    """Return the month to whose archive what was written at that moment may have gone; None where it is here."""
    return ArchivedMonth.objects.filter(events__gt=0, until__gte=at - SLACK).order_by("beyond").first()


def cut() -> ArchivedMonth | None:
    """Return the last month that has gone to an archive; None where all are here."""
    return ArchivedMonth.objects.order_by("beyond").last()
