"""A month's table has the guards of the whole table.

A guard that is missing on one month is named, and only the owner can use a month's table by its own
name.
"""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors
from psycopg.sql import SQL, Identifier
from pytest_django import DjangoDbBlocker

from audit import id_ranges
from ops.management.commands.migrate import BY_MONTHS
from tests.harness import databases
from wallet.invariants import guards

LINES = [line for line in guards.due()[0] if line.startswith("in every month: ")]
LAST = """
    SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid
    WHERE inhparent = %s::regclass ORDER BY 1 DESC LIMIT 1
"""
ACTIONS = (
    "SELECT count(*) FROM {}",
    "INSERT INTO {} DEFAULT VALUES",
    "UPDATE {} SET {} = {}",
    "DELETE FROM {}",
    "TRUNCATE {}",
)


@pytest.fixture(scope="module")
def house(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[databases.Database]:
    """One that nobody changes for good."""
    with django_db_blocker.unblock(), databases.clone("months") as database:
        yield database


@pytest.fixture(scope="module")
def superuser(house: databases.Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(house.superuser_url, autocommit=True) as superuser:
        yield superuser


def last_month(superuser: psycopg.Connection, table: str) -> str:
    """Return the name of the last table there is for months of *table*."""
    (name,) = superuser.execute(LAST, [table]).fetchone() or ("",)
    return str(name)


def missing(superuser: psycopg.Connection) -> list[str]:
    """Return what the verification of the ledger would name."""
    found = superuser.execute(guards.MISSING, [guards.due()[0]]).fetchall()
    return [line.removesuffix(": missing, changed or not in force") for (line,) in found]


def take_away(superuser: psycopg.Connection, line: str) -> None:
    """Remove from one month the guard that *line* names for all months."""
    what, _, table = line.removeprefix("in every month: ").split(" by ")[0].rpartition(" on ")
    kind, _, name = what.rpartition(" ")
    month = last_month(superuser, table)
    own = Identifier(name.replace(table, month, 1))
    if kind == "trigger":
        superuser.execute(SQL("ALTER TABLE {} DISABLE TRIGGER {}").format(Identifier(month), Identifier(name)))
    elif kind == "unique index" and name.endswith("_pkey"):
        superuser.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [own.as_string()])
    elif kind == "unique index":
        superuser.execute(SQL("DROP INDEX {}").format(own))
    else:
        assert kind == "foreign key"
        superuser.execute(SQL("ALTER TABLE {} DISABLE TRIGGER ALL").format(Identifier(month)))


def test_nothing_is_missing_before(superuser):
    assert missing(superuser) == []


@pytest.mark.parametrize("line", LINES)
def test_what_is_missing_in_one_month_alone_is_named(superuser, line):
    with superuser.transaction(force_rollback=True):
        take_away(superuser, line)
        named = missing(superuser)
    if (
        "foreign key" in line
    ):  # it is kept by PostgreSQL's own triggers, which are switched off with all others or not at all
        assert line in named
    else:
        assert named == [line]


@pytest.mark.parametrize("table", BY_MONTHS)
def test_a_month_that_somebody_made_by_hand_is_named(superuser, table):
    """It has what comes down from the whole, and not what a month has by itself."""
    own = [line for line in LINES if f" on {table}" in line and ("_is_kept" in line or "_chain" in line)]
    beyond = 12 * 50 << id_ranges.SHIFT
    with superuser.transaction(force_rollback=True):
        superuser.execute(
            f"CREATE TABLE {table}_2050_01 PARTITION OF {table} FOR VALUES FROM ({beyond}) TO ({beyond + 1})"
        )
        assert set(own) <= set(missing(superuser))


@pytest.mark.parametrize("table", BY_MONTHS)
def test_web_and_workers_come_to_no_month_by_its_own_name(house, superuser, table):
    month = Identifier(last_month(superuser, table))
    with psycopg.connect(house.web_url, autocommit=True) as web:
        web.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table)))
        for action in ACTIONS:
            key = Identifier("journal_id" if table == "wallet_entry" else "id")
            with pytest.raises(errors.InsufficientPrivilege):
                web.execute(SQL(action).format(month, key, key))
