"""Sixteen threads against a limit with little room: it is never exceeded."""

from functools import partial
from threading import Barrier
from uuid import uuid4

import pytest

from players.models import LimitKind, Period
from tests.builders import a_player, a_purse
from tests.wallet import holds
from tests.wallet.money_moves import cash, house, move, stake, write
from tests.wallet.test_at_once import at_once, outcome
from tests.wallet.test_limits import counted, deposit, is_whole, limit
from wallet import limits
from wallet.ledger import Journal, accounts
from wallet.models import AccountKind, Mode
from wallet.payments.deposits import begin

THREADS = 16


def test_without_the_database_s_rule_a_limit_that_was_checked_is_exceeded(cloned_db, owner):
    owner.execute(
        "CREATE OR REPLACE FUNCTION wallet_refuse_beyond(player bigint, day date, movement text, added bigint)"
        " RETURNS void LANGUAGE sql BEGIN ATOMIC SELECT; END"
    )
    player, have_read = a_player("GB", real=10_000), Barrier(THREADS)
    limit(player, "stake", "day", 100)

    def check_then_stake() -> str:
        limits.check_stake(player, 100)
        have_read.wait(timeout=60)
        return outcome(lambda: write(stake(player, 100)))

    assert at_once([check_then_stake] * THREADS) == ["posted"] * THREADS
    assert accounts.balance(player.pk, Mode.REAL) == 10_000 - 100 * THREADS


@pytest.mark.parametrize("kind", ["stake", "loss"])
def test_the_database_lets_through_what_there_is_room_for(cloned_db, kind):
    player, have_read = a_player("GB", real=10_000), Barrier(THREADS)
    limit(player, kind, "week", 350)

    def check_then_stake() -> str:
        limits.check_stake(player, 100)
        have_read.wait(timeout=60)
        return outcome(lambda: write(stake(player, 100)))

    results = at_once([check_then_stake] * THREADS)
    assert sorted(results) == ["LimitReached"] * (THREADS - 3) + ["posted"] * 3
    assert counted(player)[2] == 300
    assert is_whole()


def test_from_two_accounts_too(cloned_db):
    player = a_player(real=20_000)
    a_purse(player, 10_000)
    own_purse = accounts.player_account(player.pk, Mode.REAL, AccountKind.PURSE)
    limit(player, "stake", "month", 350)

    def from_the_purse() -> Journal:
        return Journal(uuid4(), "stake", move((own_purse, -100), (house("escrow", player), 100)))

    jobs = [
        lambda: outcome(lambda: write(from_the_purse())),
        lambda: outcome(lambda: write(stake(player, 100))),
    ]
    results = at_once(jobs * (THREADS // 2))
    assert results.count("posted") == 3
    assert is_whole()


@pytest.mark.parametrize("kind", ["stake", "loss"])
def test_stakes_and_holds_from_cash_and_purse(cloned_db, kind):
    player = a_player(real=20_000)
    a_purse(player, 10_000)
    limit(player, kind, "day", 350)
    own = (cash(player), accounts.player_account(player.pk, Mode.REAL, AccountKind.PURSE))

    def take(account: int) -> Journal:
        return Journal(uuid4(), "stake", move((account, -100), (house("escrow", player), 100)))

    jobs = [partial(outcome, partial(holds.hold, uuid4(), account, 100)) for account in own * 4]
    jobs += [partial(outcome, partial(write, take(account))) for account in own * 4]
    results = at_once(jobs)
    assert sorted(results) == ["LimitReached"] * (THREADS - 3) + ["posted"] * 3
    assert limits.usage(player)[LimitKind(kind), Period.DAY] == 300
    assert is_whole()


def test_holds_of_one_round_that_grow(cloned_db):
    player, round_id = a_player("GB", real=10_000), uuid4()
    limit(player, "stake", "day", 750)
    jobs = [partial(outcome, partial(holds.hold, round_id, cash(player), 100 * each)) for each in range(1, 17)]
    at_once(jobs)
    assert limits.usage(player)[LimitKind.STAKE, Period.DAY] <= 700
    assert is_whole()


def test_deposits_begun_alone(cloned_db):
    player = a_player("GB")
    limit(player, "deposit", "day", 35_000)
    results = at_once([lambda: outcome(lambda: begin(player=player, amount=10_000, key=uuid4()))] * THREADS)
    assert sorted(results) == ["LimitReached"] * (THREADS - 3) + ["posted"] * 3
    assert limits.usage(player)[LimitKind.DEPOSIT, Period.DAY] == 30_000
    assert is_whole()


def test_deposits_posted_and_begun(cloned_db):
    player = a_player("GB")
    limit(player, "deposit", "month", 350)
    jobs = [
        lambda: outcome(lambda: write(deposit(player, 100))),
        lambda: outcome(lambda: limits.reserve_deposit(player=player, key=uuid4(), amount=100)),
    ]
    results = at_once(jobs * (THREADS // 2))
    assert results.count("LimitReached") == THREADS - 3
    assert limits.usage(player)[LimitKind.DEPOSIT, Period.MONTH] == 300
    assert is_whole()


def test_a_limit_set_in_the_meantime_holds_from_then_on(cloned_db):
    player = a_player("GB", real=10_000)
    set_it = partial(limit, player, "stake", "day", 500)
    jobs = [lambda: outcome(set_it)] + [lambda: outcome(lambda: write(stake(player, 100)))] * (THREADS - 1)
    at_once(jobs)
    before = counted(player)[2]
    assert outcome(lambda: write(stake(player, max(500 - before, 0) + 1))) == "LimitReached"
    assert is_whole()
