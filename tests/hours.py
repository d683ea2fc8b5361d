"""Hours that are settled, in tests: when they are depends on every transaction of the server, other tests' included."""

from datetime import datetime

from django.db import connection

LONG_AGO = 3  # a transaction that every server has behind it


def settle(moment: datetime | None = None) -> None:
    """Let everything that was written up to a minute before that moment, now unless it is given, count as settled."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_watermark (at, transaction) VALUES (coalesce(%s, clock_timestamp()), %s)",
            [moment, LONG_AGO],
        )
