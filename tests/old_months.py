"""Months that have gone by, for tests: a house that was just made has only its own and those to come."""

from datetime import UTC, datetime
from typing import Any, Final

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from audit import partitions
from bench.months import make_months

make = make_months
"""Gives the house a table for every month from one on: `make(owner, since)`."""
NUMBERED: Final = ("audit_event", "wallet_journal")


def go_to(owner: psycopg.Connection[Any], month: datetime) -> None:
    """Have what is written from now on bear numbers of that month, until `audit_keep_months` is called. Its times are
    those at which it is written.
    """
    first = partitions.block(month)
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
                Literal(first + (1 << partitions.SHIFT)),
            )
        )


def beginning(year: int, month: int) -> datetime:
    """Return when a month begins."""
    return datetime(year, month, 1, tzinfo=UTC)
