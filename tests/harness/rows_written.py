"""Counts the rows that a transaction writes, and the calls of trigger functions."""

import re
from collections import Counter

from django.db import connection

ROWS = """
SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables
WHERE n_tup_ins + n_tup_upd + n_tup_del > 0
"""
TRIGGERS = """
SELECT s.funcname, s.calls FROM pg_stat_xact_user_functions AS s JOIN pg_proc AS p ON p.oid = s.funcid
WHERE p.prorettype = 'trigger'::regtype
"""


def rows_written() -> Counter[str]:
    """Return the rows that this transaction has written, by table; a month's table counts as the whole one."""
    with connection.cursor() as cursor:
        cursor.execute(ROWS)
        return Counter({re.sub(r"_\d{4}_?\d{2}$", "", table): rows for table, rows in cursor.fetchall()})


def triggers_called() -> Counter[str]:
    """Return how often this transaction has called each trigger function, those of deferred constraints included.

    The server of the tests counts calls: ``track_functions``.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(TRIGGERS)
        return Counter(dict(cursor.fetchall()))
