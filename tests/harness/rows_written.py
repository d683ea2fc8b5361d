"""Counts the rows that a transaction writes."""

import re
from collections import Counter

from django.db import connection

ROWS = """
SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables
WHERE n_tup_ins + n_tup_upd + n_tup_del > 0
"""


def rows_written() -> Counter[str]:
    """Return the rows that this transaction has written, by table; a month's table counts as the whole one."""
    with connection.cursor() as cursor:
        cursor.execute(ROWS)
        return Counter({re.sub(r"_\d{4}_?\d{2}$", "", table): rows for table, rows in cursor.fetchall()})
