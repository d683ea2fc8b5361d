"""Closing an account while seated at Chemin de Fer: play continues, and the rest is paid out."""

from uuid import uuid4

import pytest

from accounts import closing
from games.chemin import play
from games.engine.chemin import Phase
from games.errors import TableStopped
from games.models import CheminSeat
from players.account import closures
from players.models import ClosureState, Player
from tests.builders import a_verified_player
from tests.chemin.at_table import a_bank, a_chemin_table, a_seated_player, a_session, answer, asked, sit, step_to
from tests.chemin.hands import next_seed, shoe_where, third_card_refused
from tests.wallet.payout_builders import an_account, approve
from wallet import withdrawals
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import Mode, Withdrawal, WithdrawalStatus

pytestmark = pytest.mark.django_db

MONEY = 100_000
BANK = 40_000


@pytest.fixture
def table():
    """A table with a verified player at seat 1, who is offered the bank, and another at seat 2."""
    table = a_chemin_table()
    first = a_verified_player(real=MONEY)
    sit(first, table, 1, a_session(first))
    a_seated_player(table, 2)
    return table


@pytest.fixture
def close(django_capture_on_commit_callbacks):
    """A function that closes an account, including its on-commit steps."""

    def do(player: Player) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            closing.close(player=player, account=an_account(player), key=uuid4(), ip="10.0.0.1")

    return do


def pay_out() -> int:
    """Pay the pending withdrawal; return its amount."""
    asked_for = Withdrawal.objects.get(status=WithdrawalStatus.REQUESTED)
    withdrawals.send(approve(asked_for).pk, provider="test")
    withdrawals.pay(Withdrawal.objects.get(pk=asked_for.pk), provider="test", number="1")
    return asked_for.amount


def test_with_a_bank_out_is_paid_the_bank_too_once_it_is_home(table, close):
    player = a_bank(table, BANK)
    assert closing.owed(player) == MONEY
    close(player)
    assert pay_out() == MONEY - BANK
    closing.finish_closing()
    assert closures.state_of(player) is ClosureState.CLOSING
    step_to(table, Phase.ALONE)  # nobody plays against the bank
    assert not CheminSeat.objects.filter(player=player, left_at=None).exists()
    closing.finish_closing()
    assert pay_out() == BANK
    closing.finish_closing()
    assert closures.state_of(player) is ClosureState.CLOSED
    assert not [row for check in verify.run() for row in check.rows]


def test_in_the_middle_of_a_coup_is_paid_its_result(table, close, monkeypatch):
    seed, _ = shoe_where(third_card_refused)  # the bank wins
    next_seed(monkeypatch, seed)
    player = a_bank(table, BANK)
    punter = asked(table)
    assert punter
    answer(punter, table, "pass")
    answer(punter, table, "lay_stake", BANK)
    close(player)
    pay_out()
    closing.finish_closing()
    assert closures.state_of(player) is ClosureState.CLOSING
    step_to(table, Phase.ALONE)
    closing.finish_closing()
    assert pay_out() == 2 * BANK - BANK // 20
    closing.finish_closing()
    assert closures.state_of(player) is ClosureState.CLOSED
    assert accounts.balance(player.pk, Mode.REAL) == 0


def test_at_a_paused_table_waits_until_the_seat_is_free(table, close, monkeypatch):
    player = asked(table)
    assert player
    monkeypatch.setattr("games.chemin.play.demand_to_leave", stand_still)
    close(player)
    assert pay_out() == MONEY
    closing.finish_closing()
    assert closures.state_of(player) is ClosureState.CLOSING
    monkeypatch.undo()
    play.leave(player=player, live_table_id=table.pk)
    closing.finish_closing()
    assert closures.state_of(player) is ClosureState.CLOSED


def stand_still(*_arguments) -> None:
    raise TableStopped


def test_needs_an_account_to_pay_the_money_of_a_bank(table):
    player = a_bank(table, MONEY)
    with pytest.raises(closing.NoBankAccount):
        closing.close(player=player, account=None, key=uuid4(), ip="10.0.0.1")
