"""PostgreSQL refuses forbidden changes: to the login role by privileges, to the owner of the tables
by triggers.
"""

import json
from uuid import uuid4

import psycopg
import pytest
from django.db import connections
from psycopg import errors

from tests.builders import a_player
from tests.harness.databases import let_everyone_make_temporary_tables
from tests.wallet.money_moves import a_round, cash, house, move, write
from wallet import ledger
from wallet.models import Account, AccountKind, Entry, Journal

TABLES = ("wallet_posting_key", "wallet_journal", "wallet_entry", "wallet_account")
CHANGES = {
    "wallet_posting_key": "UPDATE wallet_posting_key SET journal_id = journal_id",
    "wallet_journal": "UPDATE wallet_journal SET kind = kind",
    "wallet_entry": "UPDATE wallet_entry SET amount = amount",
}
ACCOUNT_CHANGES = [
    "UPDATE wallet_account SET balance = balance + 1 WHERE owner_id IS NOT NULL",
    "UPDATE wallet_account SET held = 1 WHERE owner_id IS NOT NULL",
    "UPDATE wallet_account SET version = version + 1 WHERE owner_id IS NOT NULL",
    "UPDATE wallet_account SET owner_id = NULL",
    "UPDATE wallet_account SET kind = 'house'",
    "UPDATE wallet_account SET currency = 'EUR'",
    "UPDATE wallet_account SET mode = 'F'",
]
INSERTS = [
    "INSERT INTO wallet_posting_key VALUES (gen_random_uuid(), '', 1)",
    "INSERT INTO wallet_journal (key, request_hash, kind) VALUES (gen_random_uuid(), '', 'x')",
    "INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount) VALUES (1, 9, 1, 'SEK', 'R', 1)",
    "INSERT INTO wallet_account (kind, currency, mode, held, version) VALUES ('house', 'SEK', 'R', 0, 0)",
]


# owner, kind, currency, mode, balance, held, version
ODD_ACCOUNTS = {
    "1, 'cash', 'EUR', 'R', 1, 0, 0": "with money on it",
    "1, 'cash', 'EUR', 'R', 0, 1, 0": "with money held",
    "1, 'cash', 'EUR', 'R', 0, 0, 1": "with entries",
    "1, 'cash', 'EUR', 'R', NULL, 0, 0": "a player's without a balance",
    "1, 'house', 'EUR', 'R', 0, 0, 0": "a player's house",
    "NULL, 'cash', 'EUR', 'R', 0, 0, 0": "nobody's cash",
    "NULL, 'house', 'EUR', 'R', 0, 0, 0": "a house with a balance",
    "1, 'wallet', 'EUR', 'R', 0, 0, 0": "of no kind",
    "NULL, 'purse', 'EUR', 'R', 0, 0, 0": "nobody's purse",
    "1, 'cash', 'USD', 'R', 0, 0, 0": "in no currency of the house",
    "1, 'cash', 'EUR', 'X', 0, 0, 0": "neither real nor free",
}


def raw(alias):
    """Return the psycopg connection, without Django's errors, in the transaction of the test."""
    connections[alias].ensure_connection()
    return connections[alias].connection


@pytest.fixture
def web(db):
    """The connection of the role of web and workers."""
    return raw("default")


@pytest.fixture
def player(cloned_db):
    """A player with a committed round."""
    player = a_player(real=1000)
    a_round(player, staked=100, paid=250)
    return player


@pytest.mark.django_db(databases=["default", "owner"])
class TestTheOwner:
    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
    def test_cannot_change_what_has_been_written(self, change):
        with pytest.raises(errors.RestrictViolation, match="never changed"):
            raw("owner").execute(change)

    @pytest.mark.parametrize("table", TABLES)
    def test_cannot_delete(self, table):
        with pytest.raises(errors.RestrictViolation, match="never changed"):
            raw("owner").execute(f"DELETE FROM {table}")

    @pytest.mark.parametrize("table", TABLES)
    def test_cannot_truncate(self, table):
        with pytest.raises(errors.RestrictViolation, match="never changed"):
            raw("owner").execute(f"TRUNCATE {table} CASCADE")

    @pytest.mark.parametrize("change", ACCOUNT_CHANGES)
    def test_cannot_touch_an_account(self, change):
        with pytest.raises(errors.RestrictViolation, match="never changed"):
            raw("owner").execute(change)

    @pytest.mark.parametrize("account", ODD_ACCOUNTS, ids=ODD_ACCOUNTS.values())
    def test_cannot_open_an_account_that_makes_no_sense(self, account):
        columns = "owner_id, kind, currency, mode, balance, held, version, lock_only"
        with pytest.raises(errors.CheckViolation, match="no account opens like this"):
            raw("owner").execute(f"INSERT INTO wallet_account ({columns}) VALUES ({account}, false)")

    @pytest.mark.parametrize("insert", [*INSERTS[:3], "INSERT INTO wallet_reversal VALUES (1, 1)"])
    def test_cannot_write_the_ledger_by_hand(self, insert):
        with pytest.raises(errors.RestrictViolation, match="never changed"):
            raw("owner").execute(insert)


class TestTheLoginRole:
    @pytest.mark.parametrize("statement", [*INSERTS, *CHANGES.values(), *ACCOUNT_CHANGES])
    def test_cannot_write(self, web, statement):
        with pytest.raises(errors.InsufficientPrivilege):
            web.execute(statement)

    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize("statement", ["DELETE FROM {}", "TRUNCATE {} CASCADE", "DROP TABLE {} CASCADE"])
    def test_cannot_remove(self, web, table, statement):
        with pytest.raises(errors.InsufficientPrivilege):
            web.execute(statement.format(table))

    @pytest.mark.parametrize("table", TABLES)
    def test_cannot_lift_a_guard(self, web, table):
        with pytest.raises(errors.InsufficientPrivilege), web.transaction():
            web.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        with pytest.raises(errors.InsufficientPrivilege):
            web.execute("SET session_replication_role = replica")

    @pytest.mark.parametrize("table", TABLES)
    def test_has_no_right_but_to_read(self, web, table):
        rights = ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "MAINTAIN")
        found = web.execute(
            "SELECT what FROM unnest(%s::text[]) AS what WHERE has_table_privilege(%s, what)", [list(rights), table]
        )
        assert found.fetchall() == []

    def test_may_update_one_meaningless_column_so_as_to_lock_rows(self, web):
        found = web.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'wallet_account'::regclass AND attnum > 0"
            " AND has_column_privilege(attrelid, attnum, 'UPDATE')"
        )
        assert found.fetchall() == [("lock_only",)]
        web.execute("SELECT FROM wallet_account FOR UPDATE")

    def test_cannot_open_an_account_of_the_house(self, web):
        with pytest.raises(errors.CheckViolation):
            web.execute("SELECT wallet_open_account(NULL, 'SEK', 'R')")


@pytest.mark.django_db
def test_a_reversal_must_be_exact_even_past_the_function_for_it():
    player = a_player(real=1000)
    a_round(player, staked=100, paid=250)
    journal = Journal.objects.get(kind="settle")
    lines = [[cash(player), "SEK", "R", -1], [house("house", player), "SEK", "R", 1]]
    request = {"key": str(uuid4()), "kind": "void", "round": str(journal.round_id), "reverses": journal.pk}
    with pytest.raises(psycopg.DatabaseError, match="not the opposite"):
        raw("default").execute("SELECT * FROM wallet_post(%s::jsonb)", [json.dumps([request | {"lines": lines}])])


def test_accounts_of_the_house_are_never_locked(player, owner):
    """Not even as by a foreign key, which allows other readers: here another session holds the
    locks.
    """
    with owner.transaction():
        owner.execute("SELECT FROM wallet_account WHERE owner_id IS NULL FOR UPDATE")
        a_round(player, staked=100, paid=0)
    assert Entry.objects.filter(account__kind=AccountKind.HOUSE).count() == 2
    assert not Account.objects.filter(owner=None).exclude(version=0).exists()


def test_no_table_of_ones_own_slips_under_the_posting_functions(cloned_db):
    let_everyone_make_temporary_tables(cloned_db)
    player = a_player(real=1000)
    lines = move((cash(player), -1001), (house("escrow", player), 1001))
    web = raw("default")
    for table in TABLES:
        web.execute(f"CREATE TEMPORARY TABLE {table} AS SELECT * FROM public.{table}")
    web.execute("UPDATE pg_temp.wallet_account SET balance = 1000000")
    with pytest.raises(ledger.InsufficientFunds):
        write(ledger.Journal(uuid4(), "stake", lines))
