"""Months that have gone by, for a house that was just made and has only its own and those to come."""

from datetime import datetime
from typing import Any, Final

import psycopg
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Identifier, Literal

BY_MONTHS: Final = ("audit_event", "wallet_entry", "wallet_journal")
BLOCK: Final = "SELECT audit_block(%s)"
FIRST: Final = """
SELECT min(split_part(pg_get_expr(relpartbound, oid), '''', 2)::bigint) FROM pg_class
JOIN pg_inherits ON inhrelid = oid WHERE inhparent = %s::regclass AND relname NOT LIKE '%%_before'
"""


def make_months(owner: psycopg.Connection[Any], since: datetime) -> None:
    """Give the house a table for every month from that one on, and nothing in it: what is older than all months comes
    before these.
    """
    begin = _number(owner, BLOCK, since)
    for table in BY_MONTHS:
        first = _number(owner, FIRST, table)
        for statement in (
            "ALTER TABLE {whole} DETACH PARTITION {before}",
            "ALTER TABLE {whole} ATTACH PARTITION {before} FOR VALUES FROM (MINVALUE) TO ({begin})",
        ):
            owner.execute(
                SQL(statement).format(
                    whole=Identifier(table), before=Identifier(f"{table}_before"), begin=Literal(begin)
                )
            )
        for month in range(begin >> 32, first >> 32):
            owner.execute("SELECT audit_open_month(%s, %s)", [table, (month + 1) << 32])


def _number(owner: psycopg.Connection[Any], question: str, asked: object) -> int:
    found = owner.cursor(row_factory=tuple_row).execute(question, [asked]).fetchone()
    assert found
    return int(found[0])
