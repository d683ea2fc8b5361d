"""Hours that are settled, in tests: when they are depends on every transaction of the server, other tests' included."""

from django.db import connection

LONG_AGO = 3  # a transaction that every server has behind it


def settle() -> None:
    """Let everything that was written up to a minute ago, by its own account, count as settled."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO audit_mark (at, transaction) VALUES (clock_timestamp(), %s)", [LONG_AGO])
