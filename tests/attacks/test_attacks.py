"""Every constraint, unique index and trigger on money, event log and player protection is attacked once.

The attack is refused while the guard exists, succeeds once it is dropped, and is rolled back. The
guards are read from the system catalogue.
"""

import re
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import DictRow, dict_row
from pytest_django import DjangoDbBlocker

from ops.embedded.paths import OWNER_ROLE
from ops.privileges import APP_ROLE
from tests import old_months
from tests.attacks import (
    on_adjustments,
    on_calls,
    on_credentials,
    on_hours,
    on_house_stops,
    on_money,
    on_months,
    on_national_rules,
    on_notices,
    on_operator_wallets,
    on_partners,
    on_people,
    on_reports,
    on_rows,
    on_significant,
    on_staff,
    on_statements,
    on_tokens,
    on_voids,
)
from tests.attacks.attack import Attack
from tests.attacks.scene import fill
from tests.harness import databases
from wallet.invariants import guards

Owner = psycopg.Connection[DictRow]
ATTACKS = [
    *on_rows.ATTACKS,
    *on_money.ATTACKS,
    *on_adjustments.ATTACKS,
    *on_calls.ATTACKS,
    *on_credentials.ATTACKS,
    *on_national_rules.ATTACKS,
    *on_notices.ATTACKS,
    *on_partners.ATTACKS,
    *on_people.ATTACKS,
    *on_reports.ATTACKS,
    *on_significant.ATTACKS,
    *on_statements.ATTACKS,
    *on_hours.ATTACKS,
    *on_staff.ATTACKS,
    *on_operator_wallets.ATTACKS,
    *on_house_stops.ATTACKS,
    *on_tokens.ATTACKS,
    *on_voids.ATTACKS,
    *on_months.ATTACKS,
]
ATTACKS += on_months.in_the_month(ATTACKS)

# A partition has triggers and indexes of its own. All other guards are those of the whole table, and cannot be
# dropped from one partition alone.
HELD = f"""
    WITH every AS ({guards.TABLES}), kept AS (
        SELECT * FROM every WHERE NOT relispartition OR relname = ANY(%(months)s::text[])
    )
    SELECT kept.relname AS on_table, c.conname AS name, c.contype::text AS kind, NULL AS calls,
           (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) AS on_column
    FROM pg_constraint AS c JOIN kept ON kept.oid = c.conrelid WHERE NOT kept.relispartition
    UNION ALL
    SELECT kept.relname, i.indexrelid::regclass::text, 'index', NULL, NULL
    FROM pg_index AS i JOIN kept ON kept.oid = i.indrelid
    WHERE i.indisunique
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u'))
    UNION ALL
    SELECT kept.relname, t.tgname, CASE t.tgparentid WHEN 0 THEN 'trigger' ELSE 'trigger of the whole' END,
           t.tgfoid::regproc::text, NULL
    FROM pg_trigger AS t JOIN kept ON kept.oid = t.tgrelid WHERE NOT t.tgisinternal
"""
MONTH_IN_A_NAME = re.compile(r"_(2026_09|rest)(?=_|$)")


class NotDone(Exception):
    """The action had no effect."""


@pytest.fixture(scope="module")
def tables(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Owner]:
    """Act as the owner of the tables, in a house that has rows in all of them: those of months in September's."""
    with (
        django_db_blocker.unblock(),
        databases.clone("attacks") as database,
        psycopg.connect(database.superuser_url, autocommit=True, row_factory=dict_row) as owner,
    ):
        owner.execute(f"SET ROLE {OWNER_ROLE}")  # who may act as the login role too
        old_months.make(owner, on_months.MONTH)
        old_months.go_to(owner, on_months.MONTH)
        attacked, limited = fill()
        owner.execute(f"CREATE TABLE attacked AS SELECT {attacked.pk}::bigint AS id")
        owner.execute(f"CREATE TABLE limited AS SELECT {limited.pk}::bigint AS id")
        yield owner


@pytest.fixture(scope="module")
def current_rows(tables: Owner) -> dict[tuple[str, str], DictRow]:
    """Every guard there is."""
    return {
        (each["on_table"], each["name"]): each
        for each in tables.execute(HELD, {"months": list(on_months.NAMES.values())})
    }


def do(owner: Owner, attack: Attack) -> None:
    """Carry out the attack. Raises the error that refuses it, or NotDone."""
    if attack.by_login:
        owner.execute(f"SET LOCAL ROLE {APP_ROLE}")
    found = owner.execute(attack.action)
    assert found.rowcount != 0 or attack.action.startswith("TRUNCATE"), "there is nothing to attack"
    if attack.harm:
        (answer,) = owner.execute(attack.harm)
        if not all(answer.values()):
            raise NotDone


def is_refused_by(attack: Attack, guard: DictRow, error: Exception) -> bool:
    """Return whether this guard, and no other, refused. An error of a partition names the month's table."""
    if isinstance(error, NotDone):
        return bool(attack.harm)
    assert isinstance(error, psycopg.Error)
    if guard["kind"].startswith("trigger") and not attack.refused_by:
        return f"function {guard['calls']}()" in (error.diag.context or "")
    if guard["kind"] == "n":
        return (of_the_whole(error.diag.table_name), error.diag.column_name) == (attack.table, guard["on_column"])
    refused_by = attack.refused_by or attack.guard
    return refused_by in (error.diag.constraint_name, of_the_whole(error.diag.constraint_name))


def of_the_whole(name: str | None) -> str:
    """Return the name without the month in it; the guards of the default partition have no month."""
    return MONTH_IN_A_NAME.sub("", name or "")


def drop(guard: DictRow) -> str:
    """Return the statement that drops a guard, with the foreign keys that need it."""
    if guard["kind"] == "trigger":
        return f"DROP TRIGGER {guard['name']} ON {guard['on_table']}"
    if guard["kind"] == "trigger of the whole":
        return f"ALTER TABLE {guard['on_table']} DISABLE TRIGGER {guard['name']}"
    if guard["kind"] == "index":
        return f"DROP INDEX {guard['name']}"
    return f"ALTER TABLE {guard['on_table']} DROP CONSTRAINT {guard['name']} CASCADE"


@pytest.mark.parametrize("table", sorted({attack.table for attack in ATTACKS}))
def test_is_refused_with_its_guard_and_done_without(tables, current_rows, table):
    wrong: list[Exception] = []
    for attack in (each for each in ATTACKS if each.table == table):
        try:
            attempt(tables, attack, current_rows[table, attack.guard])
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  (raised below, with those of the others)
            error.add_note(attack.id)
            wrong.append(error if isinstance(error, Exception) else AssertionError(str(error), attack.id))
    if wrong:
        raise ExceptionGroup("guards that do not refuse alone", wrong)


def attempt(tables: Owner, attack: Attack, guard: DictRow) -> None:
    """Attack with the guard in place, then without it; roll back. Raises an error if a result is wrong."""
    with tables.transaction(force_rollback=True):
        tables.execute("SET CONSTRAINTS ALL IMMEDIATE")
        if attack.also:
            tables.execute(attack.also)
        with pytest.raises((psycopg.Error, NotDone)) as refused, tables.transaction():
            do(tables, attack)
        assert is_refused_by(attack, guard, refused.value), refused.value
        tables.execute(drop(guard))
        do(tables, attack)


def test_every_guard_there_is_has_been_attacked(current_rows):
    assert {(attack.table, attack.guard) for attack in ATTACKS} == set(current_rows)


def test_no_two_attacks_have_one_name():
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)
