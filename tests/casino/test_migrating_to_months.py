"""A house of the version before months is migrated while it plays: nothing is lost, nothing fails, and what there was
comes before all months.
"""

import threading
from collections.abc import Iterator
from io import StringIO
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from audit import log
from audit.models import Event
from casino.privileges import apply_privileges
from tests.builders import a_player
from tests.casino.test_migrating import Migrating
from tests.harness import databases
from tests.harness.databases import Database
from tests.start.support import SECONDS, wait_until
from tests.wallet.money_moves import a_round, stake
from wallet import guards, ledger
from wallet.models import Journal, Reversal

BEFORE = {"audit": "0013_verdicts", "players": "0027_remote", "wallet": "0023_keys"}
IS_CUT = "SELECT relkind = 'p' FROM pg_class WHERE oid = 'wallet_journal'::regclass"
TABLES = ("audit_event", "wallet_entry", "wallet_journal")


@pytest.fixture(scope="module")
def version_before(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database as the version before left it, for clones."""
    with django_db_blocker.unblock(), databases.empty("before") as database:
        executor = MigrationExecutor(connections["owner"])
        leaves = executor.loader.graph.leaf_nodes()
        executor.migrate([(app, BEFORE.get(app, name)) for app, name in leaves])
        apply_privileges(connections["owner"])
        connections.close_all()
        yield database.name


@pytest.fixture
def house(version_before: str, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """A house of that version."""
    with django_db_blocker.unblock(), databases.clone("months", like=version_before) as database:
        yield database


@pytest.fixture
def owner(house: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(house.owner_url, autocommit=True) as session:
        yield session


class Playing:
    """Somebody who plays in a session of their own until told to stop, and takes every third stake back."""

    def __init__(self) -> None:
        self.player = a_player(real=1_000_000)
        self.events: list[int] = []
        self.journals: list[int] = []
        self.errors: list[Exception] = []
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        self._enough.set()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()

    def play(self) -> None:
        with transaction.atomic():
            journals = [posted.journal_id for posted in a_round(self.player, staked=100, paid=195)]
            event = log.record("test.played", by="system", on=str(self.player), data={"journals": journals})
        self.journals += journals
        self.events.append(event)
        if len(self.events) % 3 == 0:
            (staked,) = ledger.post(stake(self.player, 50))
            (taken_back,) = ledger.reverse({staked.journal_id: uuid4()}, kind="void")
            self.journals += [staked.journal_id, taken_back.journal_id]

    def _run(self) -> None:
        try:
            while not self._enough.is_set():
                try:
                    self.play()
                except Exception as error:  # noqa: BLE001  (the test is to see it)
                    self.errors.append(error)
        finally:
            connection.close()


def rows(owner: psycopg.Connection, table: str) -> int:
    ((count,),) = owner.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(count)


def demand_nothing_lost(players: list[Playing]) -> None:
    for each in players:
        assert Journal.objects.filter(pk__in=each.journals).count() == len(set(each.journals)) == len(each.journals)
        assert Event.objects.filter(pk__in=each.events).count() == len(set(each.events)) == len(each.events)
        assert Reversal.objects.filter(by__in=each.journals).count() == len(each.events) // 3
    call_command("verify_ledger", stdout=StringIO())
    assert guards.standing() == guards.LIST.read_text().splitlines()


def test_nothing_is_lost_and_nothing_fails_of_what_is_played_meanwhile(house, owner):
    players = [Playing() for _ in range(3)]
    wait_until(lambda: all(len(each.events) > 10 for each in players), "nobody plays")
    migrating = Migrating()
    wait_until(lambda: not migrating.is_under_way, "it never ends")
    played = [len(each.events) for each in players]
    wait_until(
        lambda: all(len(each.events) > before + 10 for each, before in zip(players, played, strict=True)),
        "nobody plays any more",
    )
    for each in players:
        each.end()
    migrating.end()
    assert [error for each in players for error in each.errors] == []
    demand_nothing_lost(players)
    for table in TABLES:
        assert rows(owner, table) > rows(owner, f"{table}_before") > 0
        assert rows(owner, table) == sum(rows(owner, month) for month in months_of(owner, table))


def test_what_was_played_before_is_in_the_table_before_all_months(house, owner):
    player = a_player(real=1000)
    a_round(player, staked=100, paid=195)
    log.record("test.played", by="system", on=str(player), data={})
    counts = {table: rows(owner, table) for table in TABLES}
    call_command("migrate", verbosity=0)
    for table in TABLES:
        assert rows(owner, f"{table}_before") == rows(owner, table) == counts[table] > 0
    a_round(player, staked=100, paid=195)
    log.record("test.played", by="system", on=str(player), data={})
    for table in TABLES:
        assert rows(owner, f"{table}_before") == counts[table] < rows(owner, table)


def test_what_was_done_before_is_known_afterwards(house, owner):
    """A key moves nothing again, what was reversed is not reversed again, and what was not can be."""
    player = a_player(real=1000)
    asked = stake(player, 100)
    (staked,) = ledger.post(asked)
    laid, settled = a_round(player, staked=100, paid=195)
    ledger.reverse({staked.journal_id: uuid4()}, kind="void")
    call_command("migrate", verbosity=0)
    (again,) = ledger.post(asked)
    assert (again.journal_id, again.replayed) == (staked.journal_id, True)
    with pytest.raises(ledger.AlreadyReversed), transaction.atomic():
        ledger.reverse({staked.journal_id: uuid4()}, kind="void")
    ledger.reverse({settled.journal_id: uuid4(), laid.journal_id: uuid4()}, kind="void")
    call_command("verify_ledger", stdout=StringIO())


def test_a_new_house_and_one_that_was_migrated_have_the_same_guards(house, owner):
    call_command("migrate", verbosity=0)
    assert guards.standing() == guards.LIST.read_text().splitlines()


def test_it_begins_again_after_somebody_who_looks_for_long(house, owner):
    """An index made beside play waits for everybody who sees what was: it is given up, and made anew."""
    player = a_player(real=1000)
    with psycopg.connect(house.web_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM wallet_journal")
        migrating = Migrating()
        wait_until(lambda: migrating.said.getvalue().count("trying again") > 1, "it waits for nobody")
        a_round(player, staked=100, paid=195)
        assert owner.execute(IS_CUT).fetchone() == (False,)
        reader.rollback()
    migrating.end()
    assert owner.execute(IS_CUT).fetchone() == (True,)
    a_round(player, staked=100, paid=195)
    call_command("verify_ledger", stdout=StringIO())


def months_of(owner: psycopg.Connection, table: str) -> list[Any]:
    asked = "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = %s::regclass"
    return [name for (name,) in owner.execute(asked, [table])]
