"""Closing an account or self-exclusion with open bets: bets stand, and winnings are paid out."""

from uuid import uuid4

import pytest

from accounts import closing
from accounts.tasks import finish_closing
from games.betting.rules import Change
from games.errors import NotEligible
from games.models import LiveTable, Participation, Phase
from games.shared.bets import change_slip
from players.account import closures
from players.models import ClosureState, Player
from players.protection import exclusions
from tests.builders import a_verified_player
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.live.betting import held
from tests.players.test_sessions import a_browser
from tests.voiding import cancel
from tests.wallet.payout_builders import an_account, approve
from wallet import withdrawals
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import Mode, Withdrawal, WithdrawalStatus

pytestmark = pytest.mark.django_db

MONEY, STAKE = 100_000, 5_000


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def player(live_table: LiveTable) -> Player:
    """A player with money, part of it bet on the round in progress."""
    player = a_verified_player(real=MONEY)
    bet(player, live_table, player=STAKE, tie=STAKE)
    return player


def close(player: Player) -> None:
    closing.close(player=player, account=an_account(player), key=uuid4(), ip="10.0.0.1")


def pay_out() -> None:
    """Approve and pay the pending withdrawal."""
    withdrawal = approve(Withdrawal.objects.get(status=WithdrawalStatus.REQUESTED))
    withdrawals.send(withdrawal.pk, provider="test")
    withdrawals.pay(Withdrawal.objects.get(pk=withdrawal.pk), provider="test", number=str(withdrawal.pk))


def asked() -> list[int]:
    """Return the requested amounts in order."""
    return list(Withdrawal.objects.order_by("pk").values_list("amount", flat=True))


def books_are_right() -> bool:
    return not [check.invariant.name for check in verify.run() if check.rows]


class TestClosing:
    def test_pays_what_is_free_at_once_and_what_comes_of_the_bets_afterwards(self, player, live_table):
        close(player)
        assert asked() == [MONEY - 2 * STAKE]
        assert accounts.balance(player.pk, Mode.REAL) == 2 * STAKE
        pay_out()
        finish_closing()
        assert closures.state_of(player) is ClosureState.CLOSING
        cancel(round_id=round_at(live_table).pk, by="staff:1")
        finish_closing()
        assert asked() == [MONEY - 2 * STAKE, 2 * STAKE]
        pay_out()
        finish_closing()
        assert closures.state_of(player) is ClosureState.CLOSED
        assert books_are_right()

    @pytest.mark.sweep
    def test_waits_for_a_round_whose_stakes_are_all_that_there_was(self, player, live_table):
        """While the round is dealt the account has nothing but its stakes, but a payout may follow."""
        close(player)
        pay_out()
        step(live_table)
        assert accounts.balance(player.pk, Mode.REAL) == held(player) == 2 * STAKE
        finish_closing()
        assert closures.state_of(player) is ClosureState.CLOSING
        advance_to(live_table, Phase.SETTLED)
        paid = Participation.objects.get().paid
        finish_closing()
        assert asked()[1:] == ([paid] if paid else [])
        assert closures.state_of(player) is (ClosureState.CLOSING if paid else ClosureState.CLOSED)

    def test_asks_for_no_payment_twice(self, player, live_table):
        close(player)
        pay_out()
        cancel(round_id=round_at(live_table).pk, by="staff:1")
        for _ in range(3):
            finish_closing()
        assert len(asked()) == 2

    @pytest.mark.sweep
    def test_leaves_what_the_house_sent_back_to_the_player(self, player, live_table):
        close(player)
        refused = Withdrawal.objects.get()
        withdrawals.refuse(withdrawal_id=refused.pk, by="staff:1", code="details", note="")
        cancel(round_id=round_at(live_table).pk, by="staff:1")
        finish_closing()
        assert len(asked()) == 1

    @pytest.mark.sweep
    def test_pays_later_where_everything_is_on_the_table(self, live_table):
        player = a_verified_player(real=STAKE)
        bet(player, live_table, player=STAKE)
        close(player)
        assert asked() == []
        cancel(round_id=round_at(live_table).pk, by="staff:1")
        finish_closing()
        assert asked() == [STAKE]

    @pytest.mark.sweep
    def test_is_shown_on_the_page(self, player):
        page = a_browser(player.user).get("/en/account/close/").text
        assert "Your bets at live tables remain valid." in page
        assert "it closes immediately" not in page

    def test_takes_no_more_bets(self, player, live_table):
        close(player)
        with pytest.raises(NotEligible):
            bet(player, live_table, player=STAKE)


class TestAnExclusion:
    def exclude(self, player: Player) -> None:
        exclusions.pause(player=player, by=str(player))

    def test_gli19_2_4_1_leaves_accepted_bets_in_play_and_pays_them(self, player, live_table):
        self.exclude(player)
        with pytest.raises(NotEligible):
            bet(player, live_table, player=STAKE)
        done = advance_to(live_table, Phase.SETTLED)
        part = Participation.objects.get(round_id=done.pk)
        assert (part.player_id, part.staked) == (player.pk, 2 * STAKE)
        assert accounts.balance(player.pk, Mode.REAL) == MONEY - part.staked + part.paid
        assert books_are_right()

    @pytest.mark.sweep
    def test_keeps_game_logs_and_withdrawals_open(self, player, live_table):
        self.exclude(player)
        going = round_at(live_table)
        visitor = a_browser(player.user)
        for address in ("/en/history/", f"/en/history/{going.pk}/"):
            assert going.code in visitor.get(address).text
        withdrawals.request(player=player, amount=MONEY - 2 * STAKE, account=an_account(player), key=uuid4())
        with pytest.raises(withdrawals.NotEnough):
            withdrawals.request(player=player, amount=STAKE, account=an_account(player), key=uuid4())

    def test_lets_nobody_play_on_by_changing_the_slip(self, player, live_table):
        self.exclude(player)
        with pytest.raises(NotEligible):
            change_slip(
                player=player, live_table_id=live_table.pk, round_id=round_at(live_table).pk, change=Change.DOUBLE
            )
