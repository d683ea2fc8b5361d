"""Months that have gone by, for tests: a house that was just made has only its own and those to come."""

from datetime import UTC, datetime
from typing import Any, Final

import psycopg
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Identifier, Literal

from audit import id_ranges
from ops.management.commands.migrate import BY_MONTHS

NUMBERED: Final = ("audit_event", "wallet_journal")
BLOCK: Final = "SELECT audit_block(%s)"
FIRST: Final = """
SELECT min(split_part(pg_get_expr(relpartbound, oid), '''', 2)::bigint) FROM pg_class
JOIN pg_inherits ON inhrelid = oid WHERE inhparent = %s::regclass AND relname NOT LIKE '%%_before'
"""


def make(owner: psycopg.Connection[Any], since: datetime) -> None:
    """Give the house a table for every month from that one on, all empty: rows older than all months come
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


def go_to(owner: psycopg.Connection[Any], month: datetime) -> None:
    """Give rows written from now on numbers of that month, until `audit_keep_months` is called. Their times are
    those of the insert.
    """
    first = id_ranges.block(month)
    for table in NUMBERED:
        owner.execute(
            SQL(
                "SELECT setval(pg_get_serial_sequence({}, 'id'), coalesce(max(id) + 1, {}), false) FROM {}"
                " WHERE id >= {} AND id < {}"
            ).format(
                Literal(table),
                Literal(first),
                Identifier(table),
                Literal(first),
                Literal(first + (1 << id_ranges.SHIFT)),
            )
        )


def beginning(year: int, month: int) -> datetime:
    """Return when a month begins."""
    return datetime(year, month, 1, tzinfo=UTC)
