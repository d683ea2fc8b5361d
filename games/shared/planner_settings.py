"""How PostgreSQL is to go about a whole round: by keys, whatever its statistics say."""

from django.db import connection


def read_by_key() -> None:
    """Until the transaction ends, read no table from end to end where an index leads to the row.

    In a new house the statistics say that tables are empty, and plans made of that are kept: the foreign keys of ten
    thousand bets were each looked for in all of them, when the transaction committed.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
