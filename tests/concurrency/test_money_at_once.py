"""Sixty-four threads move money of one account at the same moment: deposits, stakes, rounds and withdrawals.

The first test shows what happens without the guards of the account. The others show that every accepted operation
counts once, no balance is negative, and the sums are right to the last minor unit.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from threading import Barrier
from uuid import uuid4

import psycopg
import pytest
from django.db import connection

from games.errors import PlayError
from games.models import Participation
from games.solo import play_round
from players.models import Player
from tests.builders import a_player, a_seat, a_table, a_verified_player
from tests.concurrency.books import broken
from tests.harness.databases import Database
from tests.wallet import wholeness
from tests.wallet.at_the_bank import a_payment, at_the_bank, balance, call_back
from tests.wallet.money_moves import cash, settle, stake, write
from tests.wallet.payout_builders import an_account
from tests.wallet.test_at_once import at_once, outcome
from wallet import withdrawals
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import AccountKind, Entry, Journal, Mode, Payment, PayoutAccount, Withdrawal
from wallet.sandbox_bank import orders

AMOUNT = 10_000
THREADS = 64
SIXTEEN = THREADS // 4


@pytest.fixture
def no_deadlock(cloned_db: Database) -> Iterator[None]:
    """Check that PostgreSQL ended no deadlock, not even one after which the statement was repeated."""
    yield
    assert deadlocks(cloned_db) == 0


def deadlocks(database: Database) -> int:
    """Return the number of deadlocks in a database. Each session reports its own when it ends or is idle."""
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        row = superuser.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = %s", [database.name]).fetchone()
    assert row
    return int(row[0])


class TestWithoutItsGuards:
    def test_checking_first_and_writing_then_makes_money_vanish_and_appear(self, cloned_db, owner):
        """All have read the same balance; of all that they write, the last remains."""
        owner.execute("CREATE TABLE unguarded AS SELECT 640000 AS balance")
        owner.execute("GRANT SELECT, UPDATE ON unguarded TO sabot_app")
        have_read = Barrier(THREADS)

        def check_then_write(change: int) -> int:
            with connection.cursor() as cursor:
                cursor.execute("SELECT balance FROM unguarded")
                (found,) = cursor.fetchone()
                have_read.wait(timeout=300)
                cursor.execute("UPDATE unguarded SET balance = %s", [found + change])
            return change

        changes = [AMOUNT if number % 4 == 0 else -AMOUNT for number in range(THREADS)]
        done = at_once([partial(check_then_write, change) for change in changes])
        (left,) = owner.execute("SELECT balance FROM unguarded").fetchone()
        assert left in (640_000 - AMOUNT, 640_000 + AMOUNT)
        assert left != 640_000 + sum(done)

    def test_without_the_rule_of_the_account_the_same_money_is_staked_many_times(self, cloned_db, owner):
        owner.execute("ALTER TABLE wallet_account DROP CONSTRAINT wallet_account_covered")
        player, have_read = a_player(real=AMOUNT), Barrier(THREADS)

        def check_then_stake() -> str:
            assert balance(player) == AMOUNT
            have_read.wait(timeout=300)
            return outcome(lambda: write(stake(player, AMOUNT)))

        assert at_once([check_then_stake] * THREADS) == ["posted"] * THREADS
        assert balance(player) == AMOUNT - THREADS * AMOUNT
        assert "nothing_is_negative" in [check.invariant.name for check in verify.run() if check.rows]

    def test_locks_in_any_order_end_in_a_deadlock_and_that_is_counted(self, cloned_db):
        players, have_locked = [a_player(), a_player()], Barrier(2)

        def lock_both(first: Player, second: Player) -> str:
            with psycopg.connect(cloned_db.web_url, autocommit=True) as own:
                with suppress(psycopg.errors.DeadlockDetected), own.transaction():
                    own.execute("SELECT FROM wallet_account WHERE id = %s FOR UPDATE", [cash(first)])
                    have_locked.wait(timeout=300)
                    own.execute("SELECT FROM wallet_account WHERE id = %s FOR UPDATE", [cash(second)])
                    return "locked"
                own.execute("SELECT pg_stat_force_next_flush()")
                return "deadlock"

        jobs = [partial(lock_both, *players), partial(lock_both, *reversed(players))]
        assert sorted(at_once(jobs)) == ["deadlock", "locked"]
        assert deadlocks(cloned_db) == 1


@pytest.mark.usefixtures("no_deadlock")
class TestOneAccount:
    def test_takes_deposits_stakes_and_withdrawals_for_more_than_there_is(self, cloned_db):
        """The deposits are less than the sum of all withdrawals: some are refused, in any order."""
        player = a_verified_player(real=10 * AMOUNT)
        account = an_account(player)
        jobs = shuffled_together(
            [partial(deposit, player)] * SIXTEEN,
            [partial(withdraw, player, account)] * SIXTEEN,
            [partial(bet, player)] * SIXTEEN,
            [partial(bet, player)] * SIXTEEN,
        )
        done = Counter(at_once(jobs))
        assert done["deposit"] == SIXTEEN
        assert done["NotEnough"] + done["InsufficientFunds"] >= 3 * SIXTEEN - 10 - SIXTEEN
        assert sum(done.values()) == THREADS
        assert set(done) <= {"deposit", "withdrawal", "stake", "NotEnough", "InsufficientFunds"}
        left = (10 + done["deposit"] - done["withdrawal"] - done["stake"]) * AMOUNT
        assert balance(player) == left >= 0
        assert accounts.balance(player.pk, Mode.REAL, AccountKind.PENDING) == done["withdrawal"] * AMOUNT
        assert Withdrawal.objects.filter(status="requested", amount=AMOUNT).count() == done["withdrawal"]
        assert Payment.objects.filter(state="credited").count() == done["deposit"]
        assert Journal.objects.filter(kind="stake").count() == done["stake"]
        assert everything_follows(player)
        assert not wholeness.broken()

    def test_plays_rounds_at_many_tables_while_money_comes_and_goes(self, cloned_db):
        player = a_verified_player(real=100 * AMOUNT)
        account = an_account(player)
        tables = [a_table(f"table-{number}") for number in range(SIXTEEN)]
        seats = [a_seat(player, table, player=1000) for table in tables]
        jobs = shuffled_together(
            [partial(play, player, seat) for seat in seats],
            [partial(play, player, seat) for seat in seats],  # the same click again
            [partial(deposit, player)] * SIXTEEN,
            [partial(withdraw, player, account)] * SIXTEEN,
        )
        done = Counter(at_once(jobs))
        assert done == {"round": 2 * SIXTEEN, "deposit": SIXTEEN, "withdrawal": SIXTEEN}
        parts = Participation.objects.filter(player=player)
        assert {part.round_id for part in parts} == {seat.round_id for seat in seats}
        won = sum(part.paid - part.staked for part in parts)
        assert balance(player) == 100 * AMOUNT + won
        assert everything_follows(player)
        assert not broken()

    def test_takes_every_form_and_every_message_once_however_often_it_comes(self, cloned_db):
        """Each of four deposits is notified eight times, each of four withdrawals requested eight times, at once."""
        player = a_verified_player(real=10 * AMOUNT)
        account = an_account(player)
        payments = [a_payment(player, AMOUNT) for _ in range(4)]
        for payment in payments:
            at_the_bank(payment)
        keys = [uuid4() for _ in range(4)]
        jobs = shuffled_together(
            [partial(tell, payment) for payment in payments] * 8,
            [partial(withdraw, player, account, key) for key in keys] * 8,
        )
        assert Counter(at_once(jobs)) == {"deposit": 32, "withdrawal": 32}
        assert balance(player) == 10 * AMOUNT
        assert accounts.balance(player.pk, Mode.REAL, AccountKind.PENDING) == 4 * AMOUNT
        assert Withdrawal.objects.count() == Journal.objects.filter(kind="withdraw").count() == 4
        assert everything_follows(player)
        assert not broken()


def shuffled_together(*lists: Sequence[Callable[[], str]]) -> list[Callable[[], str]]:
    """Return one job of each list in turn."""
    return [job for together in zip(*lists, strict=True) for job in together]


def deposit(player: Player) -> str:
    """Begin a deposit, approve it at the bank, and have the bank notify the house."""
    payment = a_payment(player, AMOUNT)
    at_the_bank(payment)
    return tell(payment)


def tell(payment: Payment) -> str:
    """Send the bank's signed call-back to the house."""
    assert call_back(dict(orders.statement(payment.pk) or {})) == 200
    return "deposit"


def withdraw(player: Player, account: PayoutAccount, key=None) -> str:
    try:
        withdrawals.request(player=player, amount=AMOUNT, account=account, key=key or uuid4())
    except withdrawals.NotEnough:
        return "NotEnough"
    return "withdrawal"


def bet(player: Player) -> str:
    """Stake an amount and lose it at once."""
    round_id = uuid4()
    journals = stake(player, AMOUNT, round_id=round_id), settle(player, AMOUNT, 0, round_id=round_id)
    said = outcome(lambda: write(*journals))
    return "stake" if said == "posted" else said


def play(player: Player, seat) -> str:
    """Play a round by the service that a click calls."""
    try:
        play_round(
            player=player,
            table_id=seat.table_id,
            mode=Mode.REAL,
            round_id=seat.round_id,
            slip_version=seat.slip_version,
        )
    except PlayError as error:
        return type(error).__name__
    return "round"


def everything_follows(player: Player) -> bool:
    """Return whether each balance of the account follows from the one before and none is below zero."""
    total = 0
    for amount, after in (
        Entry.objects.filter(account_id=cash(player)).order_by("version").values_list("amount", "balance_after")
    ):
        total += amount
        if after != total or after < 0:
            return False
    return total == balance(player)
