"""After an account lock, play in progress is finished and nothing new begins (GLI-19 v3.0, 2.4.1).

This holds at tables of every kind, at the cashier, and for every log-in.
"""

from functools import partial
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from audit import approvals
from games.chemin import play, stop, tick
from games.engine.chemin import Phase as CheminPhase
from games.engine.chemin.state import there
from games.engine.chemin.steps.phases import IN_COUP
from games.errors import NotEligible
from games.models import CheminSeat, LiveTable, Participation, Phase, WhyLeft
from games.shared.bets import add_chip
from games.shared.seats import open_seat
from games.solo import add_chip as add_solo_chip
from games.solo import play_round, solo_seat_at
from players.login import locks, sessions
from players.models import AccountLock, Player, Session
from players.protection import eligibility, exclusions
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_seat, a_table, a_verified_player
from tests.chemin import at_table as chemin
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.live.betting import held
from tests.people import PASSWORD, a_member_of_staff, a_visitor, events, last_mail, log_in, mailed_code
from tests.wallet.adjusting import ask, decide
from tests.wallet.at_the_bank import a_payment, call_back, statement
from tests.wallet.payout_builders import a_withdrawal, approve
from wallet import cashier, withdrawals
from wallet.invariants import verify
from wallet.ledger import accounts, purse
from wallet.models import AccountKind, Mode, PaymentState, Withdrawal, WithdrawalStatus
from wallet.payments import deposits
from wallet.withdrawals import releases

pytestmark = pytest.mark.django_db

MONEY = 100_000


def lock(player: Player) -> AccountLock:
    return locks.lock(player=player, reason="stolen card", by=a_member_of_staff("compliance"))


def unlock(player: Player) -> AccountLock:
    return locks.unlock(player=player, reason="found again", by=a_member_of_staff("support"))


def at_work(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def lock_by_hand(player: Player) -> None:
    """Lock an account on the staff page."""
    at_work("support").post(reverse("staff_player_lock", args=[player.pk]), {"reason": "stolen card"})


def a_session(player: Player):
    return Session.objects.create(id=uuid4(), user=player.user, ip="", browser="").pk


def cash(player: Player, mode: Mode = Mode.REAL) -> int:
    return accounts.balance(player.pk, mode)


def faults() -> list[str]:
    return [row for check in verify.run() for row in check.rows]


def code_of(barred: pytest.ExceptionInfo[NotEligible]) -> eligibility.Code:
    return barred.value.ineligibility.code


both_modes = pytest.mark.parametrize("mode", [Mode.REAL, Mode.FREE], ids=["real", "free"])


class TestAtASoloTable:
    @both_modes
    def test_gli19_2_4_1_what_was_composed_before_the_lock_is_not_staked_after_it(self, mode):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        solo_seat = a_seat(player, table, mode, player=1000)
        lock(player)
        with pytest.raises(NotEligible) as barred:
            play_round(
                player=player,
                table_id=table.pk,
                mode=mode,
                round_id=solo_seat.round_id,
                slip_version=solo_seat.slip_version,
            )
        assert code_of(barred) is eligibility.Code.LOCKED
        assert (cash(player, mode), Participation.objects.filter(player=player).count()) == (MONEY, 0)
        (refused,) = events("round.refused", by=str(player))
        assert refused["data"]["ineligibility"] == "locked"

    def test_places_no_chip_and_takes_no_seat(self):
        player, table, other = a_player(real=MONEY), a_table(), a_table("pairs")
        a_seat(player, table)
        lock(player)
        with pytest.raises(NotEligible) as barred:
            add_solo_chip(player=player, table_id=table.pk, mode=Mode.REAL, bet="player", chip=1000)
        assert code_of(barred) is eligibility.Code.LOCKED
        with pytest.raises(NotEligible):
            solo_seat_at(player=player, table_id=other.pk, mode=Mode.REAL)

    def test_a_click_that_is_sent_again_after_the_lock_finds_the_round_it_played_before(self):
        """Its answer was lost: it stakes nothing again and plays no new round."""
        player, table = a_player(real=MONEY), a_table()
        solo_seat = a_seat(player, table, player=1000)
        deal = partial(
            play_round,
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=solo_seat.round_id,
            slip_version=solo_seat.slip_version,
        )
        deal()
        won = cash(player)
        lock(player)
        again = deal()
        assert (again.round_id, again.repeated, cash(player)) == (solo_seat.round_id, True, won)

    @both_modes
    def test_money_in_golden_baccarat_returns_to_the_account_whatever_the_slip(self, mode):
        player, table = a_player(real=MONEY, free=MONEY), a_golden_table()
        a_purse(player, 50_000, mode)
        a_round(player, table, mode, player=1000)
        solo_seat = solo_seat_at(player=player, table_id=table.pk, mode=mode)
        assert solo_seat.slip  # there are bets
        had = cash(player, mode) + purse.balance(player, mode)
        lock_by_hand(player)
        assert (purse.balance(player, mode), cash(player, mode)) == (0, had)
        (returned,) = events("purse.returned", on=str(player))
        assert returned["data"]["why"] == "account locked"
        assert returned["by"].startswith("staff:")
        with pytest.raises(purse.NotEligible):
            purse.rebuy(player=player, mode=mode, amount=1000, key=uuid4())
        with pytest.raises(NotEligible):
            play_round(
                player=player,
                table_id=table.pk,
                mode=mode,
                round_id=solo_seat.round_id,
                slip_version=solo_seat.slip_version,
            )


class TestAtASharedTable:
    def test_gli19_2_4_1_bets_that_lie_there_are_played_out_and_the_winnings_come_to_the_account(self):
        player, table = a_player("RO", real=MONEY), a_live_table()
        bet(player, table, player=20_00, banker=20_00, tie=20_00)  # one of the three wins
        round_id = round_at(table).pk
        lock(player)
        assert held(player) == 60_00
        with pytest.raises(NotEligible) as barred:
            add_chip(player=player, live_table_id=table.pk, round_id=round_id, bet="player", chip=20_00)
        assert code_of(barred) is eligibility.Code.LOCKED
        advance_to(table, Phase.SETTLED)
        part = Participation.objects.get(round_id=round_id, player=player)
        assert part.paid > 0
        assert (cash(player), held(player)) == (MONEY - 60_00 + part.paid, 0)
        assert faults() == []

    def test_takes_no_seat(self):
        player, table = a_player("RO", real=MONEY), a_live_table()
        lock(player)
        with pytest.raises(NotEligible):
            open_seat(player, table)


class TestAtChemin:
    """A player's seat, bank, stake and bid."""

    def test_gli19_2_4_1_a_coup_in_progress_is_played_to_its_end_and_the_punter_goes_then(self):
        table, player = chemin.a_chemin_table(), a_player(real=chemin.MONEY)
        chemin.a_seated_player(table, 1)
        chemin.sit(player, table, 2, chemin.a_session(player))
        chemin.a_seated_player(table, 3)
        _, punter = chemin.a_staked_coup(table)
        assert punter == player
        lock(player)
        with pytest.raises(NotEligible):
            chemin.answer(player, table, "lay_stake", 1000)
        play_to_the_end(table)
        seat = CheminSeat.objects.get(player=player)
        assert (seat.left_at is not None, seat.why_left) == (True, WhyLeft.SESSION)
        assert cash(player) != chemin.MONEY or Participation.objects.get(player=player).paid == 4_000
        assert held(player) == 0
        assert faults() == []

    def test_gli19_2_4_1_a_banker_s_coup_is_played_to_its_end_and_the_bank_goes_home(self):
        table, player = chemin.a_chemin_table(), a_player(real=chemin.MONEY)
        chemin.sit(player, table, 1, chemin.a_session(player))
        chemin.a_seated_player(table, 2)
        chemin.a_seated_player(table, 3)
        banker, _ = chemin.a_staked_coup(table)
        assert banker == player
        lock(player)
        assert tick.advance(table.pk)
        play_to_the_end(table)
        assert CheminSeat.objects.get(player=player).left_at is not None
        assert accounts.totals(player.pk).in_banks.get(Mode.REAL, 0) == 0
        part = Participation.objects.get(player=player)
        assert cash(player) == chemin.MONEY - part.staked + part.paid
        assert faults() == []

    @pytest.mark.sweep
    def test_a_bank_between_two_coups_goes_home_with_its_banker(self):
        table, player = chemin.a_chemin_table(), a_player(real=chemin.MONEY)
        chemin.sit(player, table, 1, chemin.a_session(player))
        chemin.a_seated_player(table, 2)
        chemin.a_bank(table)
        assert cash(player) == chemin.MONEY - 10_000
        lock(player)
        assert tick.advance(table.pk)
        play_to_the_end(table)
        assert cash(player) == chemin.MONEY
        assert CheminSeat.objects.get(player=player).left_at is not None

    @pytest.mark.sweep
    def test_a_bid_is_free_again_and_the_bank_goes_to_another(self):
        table, players = a_table_of(4)
        banker, bidder, other, _ = players
        chemin.a_bank(table)
        while chemin.seen_of(table).phase in (CheminPhase.CALLS, CheminPhase.STAKES):
            chemin.let_pass(table)
        chemin.answer(banker, table, "give_suite")
        while chemin.seen_of(table).phase is CheminPhase.SUITE:
            chemin.let_pass(table)
        chemin.answer(bidder, table, "make_bid", 7_000)
        assert held(bidder) == 7_000
        chemin.answer(other, table, "make_bid", 6_000)
        lock(bidder)
        assert tick.advance(table.pk)
        assert CheminSeat.objects.get(player=bidder).left_at is not None
        assert (cash(bidder), held(bidder)) == (chemin.MONEY, 0)
        chemin.step_to(table, CheminPhase.CALLS, CheminPhase.STAKES)
        assert there(chemin.state_of(table).bank).amount == 6_000
        assert faults() == []

    def test_who_only_sits_there_gets_up_and_sits_down_nowhere(self):
        table, other, player = chemin.a_chemin_table(), chemin.a_chemin_table(slug="other"), a_player(real=chemin.MONEY)
        chemin.sit(player, table, 1, chemin.a_session(player))
        lock(player)
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        assert CheminSeat.objects.get(player=player).left_at is not None
        for action in (
            lambda: play.join(player=player, live_table_id=other.pk),
            lambda: play.come_back(player=player, live_table_id=table.pk),
        ):
            with pytest.raises(NotEligible) as barred:
                action()
            assert code_of(barred) is eligibility.Code.LOCKED

    def test_a_session_begun_during_the_lock_keeps_no_seat_and_no_stream(self):
        table, player = chemin.a_chemin_table(), a_player(real=chemin.MONEY)
        lock(player)
        also = a_session(player)
        seat = CheminSeat(player=player, session=also, live_table=table, number=1)
        assert stop.players_without_session([seat]) == {seat.pk}


def release(withdrawal: Withdrawal) -> None:
    first, second = a_member_of_staff("finance"), a_member_of_staff("compliance")
    asked = releases.ask(withdrawal_id=withdrawal.pk, reason="checked", by=first)
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="so", may=second.user.has_perm
    )


def play_to_the_end(table: LiveTable) -> None:
    """Let the croupier decide for all players until no coup is in progress."""
    while chemin.seen_of(table).phase in IN_COUP:
        assert chemin.step(table)


def a_table_of(number: int) -> tuple[LiveTable, list[Player]]:
    table, players = chemin.a_chemin_table(), [a_player(real=chemin.MONEY) for _ in range(number)]
    for solo_seat, player in enumerate(players, 1):
        chemin.sit(player, table, solo_seat, chemin.a_session(player))
    return table, players


class TestAtTheCashier:
    def test_withdrawals_stay_as_they_were_and_staff_release_or_refuse_them(self):
        player = a_verified_player(real=MONEY)
        one, other = a_withdrawal(player, 20_000), a_withdrawal(player, 30_000)
        lock_by_hand(player)
        for each in (one, other):
            each.refresh_from_db()
            assert each.status == WithdrawalStatus.REQUESTED
        finance = at_work("finance")
        for each in (one, other):
            shown = finance.get(reverse("staff_withdrawal", args=[each.pk])).content.decode()
            assert "locked since" in shown
            assert "stolen card" in shown
        with pytest.raises(withdrawals.Held):
            approve(one)
        release(one)
        approve(one)
        withdrawals.send(one.pk, provider="test")
        withdrawals.refuse(withdrawal_id=other.pk, by="staff:1", code="details", note="a test")
        one.refresh_from_db()
        assert one.status == WithdrawalStatus.SENDING
        assert cash(player) == MONEY - 20_000
        assert faults() == []

    def test_gli19_2_4_1_a_deposit_that_the_bank_approves_after_the_lock_is_held(self):
        player = a_player()
        payment = a_payment(player, 50_000)
        lock_by_hand(player)
        assert call_back(statement(payment)) == 200
        payment.refresh_from_db()
        assert (payment.state, cash(player)) == (PaymentState.HELD, 0)
        assert faults() == []

    def test_begins_no_deposit_and_gets_no_free_money(self):
        player = a_player()
        lock(player)
        with pytest.raises(deposits.DepositNotEligible):
            a_payment(player)
        with pytest.raises(cashier.NotEligible):
            cashier.top_up_free(player=player, key=uuid4())
        assert cash(player, Mode.FREE) == 0


class TestEveryWayIn:
    def a_player(self) -> Player:
        player = a_player("SE", real=MONEY)
        player.user.set_password(PASSWORD)
        player.user.save(update_fields=["password"])
        return player

    def test_a_click_on_an_open_page_leads_to_the_log_in(self):
        player, table = self.a_player(), a_table()
        visitor = a_visitor()
        log_in(visitor, player.user)
        solo_seat = a_seat(player, table, player=1000)
        lock_by_hand(player)
        sent = {
            "action": "deal",
            "round_id": solo_seat.round_id,
            "slip_version": solo_seat.slip_version,
            "table_version": 1,
        }
        answer = visitor.post(f"/en/table/{table.slug}/real/play/", sent, headers={"HX-Request": "true"})
        assert answer.headers["HX-Redirect"].startswith("/en/account/login/")
        assert visitor.get("/en/account/").headers["Location"].startswith("/en/account/login/")
        assert cash(player) == MONEY

    def test_a_forgotten_password_is_reset_and_opens_nothing(self):
        player = self.a_player()
        lock(player)
        visitor = a_visitor()
        visitor.post("/en/account/password/forgotten/", {"email": player.user.email})
        visitor.post("/en/account/password/forgotten/code/", {"code": mailed_code(player.user.email, "reset_password")})
        new = {"password1": "another-hand-of-cards", "password2": "another-hand-of-cards"}
        visitor.post("/en/account/password/forgotten/new/", new)
        assert visitor.get("/en/account/").status_code == 302
        answer = log_in(a_visitor(), player.user, "another-hand-of-cards")
        assert (answer.status_code, "Your account is locked" in answer.content.decode()) == (403, True)

    def test_an_exclusion_and_limits_hold_on_when_it_is_opened(self):
        player = self.a_player()
        exclusions.pause(player=player, by=str(player))
        lock(player)
        assert gate_code(player) is eligibility.Code.LOCKED
        unlock(player)
        assert gate_code(player) is eligibility.Code.EXCLUDED
        log_in(visitor := a_visitor(), player.user)
        assert visitor.get("/en/protection/").status_code == 200

    def test_opening_puts_back_what_was_possible(self):
        player, table = self.a_player(), a_table()
        lock(player)
        unlock(player)
        a_round(player, table, player=1000)
        assert a_payment(player).state == PaymentState.WAITING
        visitor = a_visitor()
        log_in(visitor, player.user)
        assert visitor.get("/en/account/").status_code == 200
        assert sessions.running(player.user)
        assert last_mail(player.user.email, "account_unlocked")

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("language", "message"),
        [
            ("en", "We have locked your account."),
            ("sv", "Vi har spärrat ditt konto."),
            ("da", "Vi har spærret din konto."),
            ("de", "Wir haben Ihr Konto gesperrt."),
            ("ro", "V-am blocat contul."),
        ],
    )
    def test_is_informed_in_the_language_of_the_page(self, language, message):
        player = self.a_player()
        lock(player)
        form = {"login": player.user.email, "password": PASSWORD}
        answer = a_visitor().post(f"/{language}/account/login/", form)
        assert message in answer.content.decode()


def gate_code(player: Player) -> eligibility.Code:
    ineligibility = eligibility.check_play(player, real=True)
    assert ineligibility
    return ineligibility.code


def test_no_money_is_asked_back_from_an_adjustment_that_waits_on_a_locked_account():
    """Staff may have locked an account that they adjust: the waiting request is decided
    normally.
    """
    player = a_player("SE", real=MONEY)
    asked = ask(player, 500)
    lock(player)
    decide(asked)
    assert cash(player) == MONEY + 500
    assert not approvals.waiting().exists()
    assert accounts.totals(player.pk).balances(AccountKind.CASH)[Mode.REAL] == MONEY + 500
