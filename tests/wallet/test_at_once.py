"""Concurrent postings: the race is shown first, then prevented."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Lock
from typing import TypeVar
from uuid import uuid4

import pytest
from django.db import connection, transaction

from tests.builders import a_player
from tests.wallet import wholeness
from tests.wallet.money_moves import a_round, cash, house, move, stake, write
from wallet import ledger
from wallet.ledger import Journal, accounts
from wallet.models import Entry, Mode

THREADS = 8
Result = TypeVar("Result")


def at_once(jobs: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run every job in its own thread and connection, started together."""
    ready = Barrier(len(jobs))

    def run(job: Callable[[], Result]) -> Result:
        try:
            connection.ensure_connection()
            ready.wait(timeout=300)
            return job()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result(timeout=300) for future in [pool.submit(run, job) for job in jobs]]


def is_whole() -> bool:
    return not any(check.rows for check in wholeness.checks())


def outcome(post: Callable[[], object]) -> str:
    """Post in a transaction and return the name of the result."""
    try:
        with transaction.atomic():
            post()
    except ledger.LedgerError as error:
        return type(error).__name__
    return "posted"


class TestOneAccountManyStakes:
    def test_checking_first_stakes_the_same_money_many_times(self, cloned_db, owner):
        """The race on an unguarded table: all threads see enough money, and all stake it."""
        owner.execute("CREATE TABLE unguarded AS SELECT 100 AS balance")
        owner.execute("GRANT SELECT, UPDATE ON unguarded TO sabot_app")
        have_read = Barrier(THREADS)

        def check_then_stake() -> bool:
            with connection.cursor() as cursor:
                cursor.execute("SELECT balance FROM unguarded")
                (balance,) = cursor.fetchone()
                have_read.wait(timeout=30)
                if balance < 100:
                    return False
                cursor.execute("UPDATE unguarded SET balance = %s", [balance - 100])
            return True

        assert at_once([check_then_stake] * THREADS) == [True] * THREADS

    def test_the_ledger_stakes_it_once(self, cloned_db):
        player = a_player(real=100)
        have_read = Barrier(THREADS)

        def check_then_stake() -> str:
            assert accounts.balance(player.pk, Mode.REAL) == 100
            have_read.wait(timeout=30)
            return outcome(lambda: write(stake(player, 100)))

        results = at_once([check_then_stake] * THREADS)
        assert sorted(results) == ["InsufficientFunds"] * (THREADS - 1) + ["posted"]
        assert accounts.balance(player.pk, Mode.REAL) == 0
        assert Entry.objects.filter(account_id=cash(player)).count() == 2

    def test_what_can_be_afforded_is_staked_to_the_last_minor_unit(self, cloned_db):
        player = a_player(real=500)
        results = at_once([lambda: outcome(lambda: write(stake(player, 100)))] * THREADS)
        assert results.count("posted") == 5
        assert accounts.balance(player.pk, Mode.REAL) == 0
        stated = Entry.objects.filter(account_id=cash(player)).order_by("version")
        assert list(stated.values_list("balance_after", flat=True)) == [500, 400, 300, 200, 100, 0]


class TestOneKey:
    def test_many_requests_with_one_key_move_money_once(self, cloned_db):
        player = a_player(real=1000)
        journal = stake(player, 100)
        results = at_once([lambda: write(journal)[0]] * THREADS)
        assert sum(not posted.repeated for posted in results) == 1
        assert len({(posted.journal_id, posted.balances[cash(player)]) for posted in results}) == 1
        assert accounts.balance(player.pk, Mode.REAL) == 900

    def test_of_different_contents_under_one_key_one_is_posted(self, cloned_db):
        player, key = a_player(real=1000), uuid4()

        def post(amount: int) -> str:
            return outcome(lambda: write(stake(player, amount, key=key)))

        results = at_once([partial(post, amount) for amount in range(1, THREADS + 1)])
        assert sorted(results) == ["PostingConflict"] * (THREADS - 1) + ["posted"]

    @pytest.mark.usefixtures("without_voids")
    def test_a_journal_is_reversed_once(self, cloned_db):
        player = a_player(real=1000)
        (posted,) = write(stake(player, 100))
        jobs = [lambda: outcome(lambda: ledger.reverse({posted.journal_id: uuid4()}, kind="void"))] * THREADS
        assert sorted(at_once(jobs)) == ["AlreadyReversed"] * (THREADS - 1) + ["posted"]
        assert accounts.balance(player.pk, Mode.REAL) == 1000


def test_accounts_are_locked_in_one_order_whatever_the_order_of_lines(cloned_db):
    """Two accounts with lines in both orders, many times: PostgreSQL would report a deadlock."""
    first, second = a_player(real=10_000), a_player(real=10_000)
    escrow = house("escrow", first)

    def pay(*players) -> None:
        for _ in range(25):
            amounts = [(cash(player), -1) for player in players] + [(escrow, 2)]
            write(Journal(uuid4(), "stake", move(*amounts)))

    at_once([lambda: pay(first, second), lambda: pay(second, first)])
    assert accounts.balance(first.pk, Mode.REAL) == accounts.balance(second.pk, Mode.REAL) == 10_000 - 50


def test_the_ledger_is_whole_while_many_play(cloned_db):
    """One thread at a time verifies, because a verification is one process, and the others play in the meantime."""
    players, verifies = [a_player(real=1000) for _ in range(2)], Lock()

    def play(player) -> bool:
        for paid in (0, 200, 195, 100):
            a_round(player, staked=100, paid=paid)
        with verifies:
            return is_whole()

    jobs = [partial(play, player) for player in players * (THREADS // 2)]
    assert all(at_once(jobs))
    assert is_whole()
    assert {accounts.balance(player.pk, Mode.REAL) for player in players} == {1000 + 4 * 95}
