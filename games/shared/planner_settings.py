"""Planner setting for transactions over a whole round: use indexes, whatever the statistics say."""

from django.db import connection


def read_by_key() -> None:
    """Disable sequential scans, where an index can be used, until the transaction ends.

    In a new database the statistics say that tables are empty, and plans based on that are cached.
    With such plans the foreign keys of ten thousand bets were each checked by a sequential scan at
    commit.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
