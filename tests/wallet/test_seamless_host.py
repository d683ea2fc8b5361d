"""A studio's game and a player's balance: each transaction once, complete, and with its exact
amount.
"""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from audit.models import Clock
from players.login import locks, sessions
from players.models import Ended, LimitKind, Period, Session
from players.protection import exclusions, limits
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.wallet import holds
from tests.wallet.stopped import go_on, stop
from tests.wallet.studios import a_game, a_partner, broken
from wallet.ledger.accounts import balance, player_account
from wallet.models import Day, Journal, Mode, StudioTransaction
from wallet.seamless_wallet import host, messages, partners

MONEY = 10_000

pytestmark = pytest.mark.django_db


@pytest.fixture
def game():
    return a_game(a_player(real=MONEY, free=MONEY))


def refusal(ask, *args, **said):
    with pytest.raises(host.Refused) as caught:
        ask(*args, **said)
    return caught.value.code


def has(game, mode=Mode.REAL):
    return balance(game.who.pk, mode)


class TestABet:
    def test_takes_the_stake_and_says_what_is_left(self, game):
        done = game.bet(2_500, transaction="one")
        assert (done.transaction, done.balance, done.currency) == ("one", 7_500, "SEK")
        assert has(game) == game.now == 7_500
        assert Journal.objects.get(pk=done.reference).kind == "studio_stake"
        (event,) = events("studio.bet", on=str(game.who))
        assert (event["by"], event["data"]["bet"]) == (str(game.partner), 2_500)

    def test_again_gets_the_first_answer_though_the_balance_has_changed(self, game):
        asked = game.a_bet(2_500)
        first = host.bet(game.partner, asked)
        game.bet(1_000, round="r2")
        assert host.bet(game.partner, asked) == first
        assert has(game) == 6_500

    @pytest.mark.sweep
    def test_again_in_another_session_is_the_same(self, game):
        asked = game.a_bet(2_500)
        first = host.bet(game.partner, asked)
        other = a_game(game.who, game.partner)
        assert other.bet(2_500, transaction=asked.transaction) == first

    @pytest.mark.parametrize("other", sample([{"amount": 2_501}, {"round": "r2"}, {"game": "poker"}], 1))
    def test_again_with_another_body_is_a_conflict(self, game, other):
        asked = game.a_bet(2_500)
        host.bet(game.partner, asked)
        assert refusal(host.bet, game.partner, replace(asked, **other)) == "transaction-conflict"
        assert has(game) == 7_500

    @pytest.mark.sweep
    def test_the_same_name_for_a_win_is_a_conflict(self, game):
        game.bet(2_500, transaction="one")
        assert refusal(game.win, 2_500, transaction="one") == "transaction-conflict"

    @pytest.mark.sweep
    def test_the_same_name_for_another_player_is_a_conflict(self, game):
        game.bet(100, transaction="one")
        other = a_game(a_player(real=MONEY), game.partner)
        assert refusal(other.bet, 100, transaction="one") == "transaction-conflict"

    @pytest.mark.sweep
    def test_the_same_name_from_another_studio_is_another_transaction(self, game):
        other = a_game(game.who)
        game.bet(100, transaction="one")
        assert other.bet(100, transaction="one").balance == MONEY - 200

    def test_that_is_not_covered_moves_nothing_and_may_come_again(self, game):
        assert refusal(game.bet, MONEY + 1, transaction="one") == "insufficient-funds"
        assert not StudioTransaction.objects.exists()
        assert game.bet(MONEY, transaction="one").balance == 0

    def test_is_not_covered_by_what_is_held_at_a_table(self, game):
        holds.hold(uuid4(), player_account(game.who.pk, Mode.REAL), MONEY - 100)
        assert game.now == 100
        assert refusal(game.bet, 101) == "insufficient-funds"
        assert game.bet(100).balance == 0

    @pytest.mark.sweep
    def test_in_another_currency_is_refused(self, game):
        assert refusal(game.bet, 100, currency="EUR") == "wrong-currency"

    @pytest.mark.sweep
    def test_of_free_money_is_of_a_session_for_it(self, game):
        free = a_game(game.who, game.partner, mode=Mode.FREE)
        before = has(game, Mode.FREE)
        free.bet(300, round="free")
        assert (has(game), has(game, Mode.FREE)) == (MONEY, before - 300)
        assert refusal(game.bet, 100, round="free") == "round-conflict"
        assert free.win(500, round="free").balance == before + 200
        assert broken() == []

    @pytest.mark.sweep
    def test_counts_as_an_action_of_the_player(self, game):
        Session.objects.filter(pk=game.log_in.pk).update(acted_at=Clock() - timedelta(minutes=5))
        game.bet(100)
        state = sessions.read_state(game.log_in.pk)
        assert state is not None
        assert state.idle < timedelta(minutes=1)


class TestAWin:
    def test_gives_what_the_round_won(self, game):
        game.bet(2_500)
        done = game.win(5_000)
        assert (done.balance, has(game)) == (MONEY + 2_500, MONEY + 2_500)
        assert Journal.objects.get(pk=done.reference).kind == "studio_win"

    @pytest.mark.sweep
    def test_of_nothing_ends_the_round_and_moves_nothing(self, game):
        game.bet(2_500)
        assert (game.win(0, transaction="w").reference, has(game)) == (None, 7_500)
        assert game.win(0, transaction="w").balance == 7_500

    def test_again_gets_the_first_answer(self, game):
        game.bet(2_500)
        asked = game.a_win(5_000)
        first = host.win(game.partner, asked)
        game.bet(1_000, round="r2")
        assert host.win(game.partner, asked) == first
        assert has(game) == MONEY + 1_500

    @pytest.mark.parametrize("other", sample([{"round": "r2"}, {"game": "poker"}], 1))
    def test_without_a_bet_in_the_round_is_refused(self, game, other):
        game.bet(2_500)
        assert refusal(game.win, 5_000, **other) == "no-bet"
        assert refusal(game.win, 0, **other) == "no-bet"

    @pytest.mark.sweep
    def test_on_another_studios_bet_is_refused(self, game):
        game.bet(2_500)
        assert refusal(a_game(game.who).win, 5_000) == "no-bet"

    @pytest.mark.sweep
    def test_on_another_players_bet_is_refused(self, game):
        game.bet(2_500)
        assert refusal(a_game(a_player(real=MONEY), game.partner).win, 5_000) == "no-bet"

    @pytest.mark.sweep
    def test_after_a_rollback_of_the_only_bet_is_refused(self, game):
        game.bet(2_500, transaction="one")
        game.roll_back("one")
        assert refusal(game.win, 5_000) == "no-bet"
        assert has(game) == MONEY

    @pytest.mark.sweep
    def test_in_another_currency_is_refused(self, game):
        game.bet(2_500)
        assert refusal(game.win, 5_000, currency="EUR") == "wrong-currency"


class TestARollback:
    def test_gives_the_stake_back(self, game):
        game.bet(2_500, transaction="one")
        done = game.roll_back("one")
        assert (done.balance, has(game)) == (MONEY, MONEY)
        assert Journal.objects.get(pk=done.reference).kind == "studio_rollback"

    def test_again_gets_the_first_answer_under_another_name_too(self, game):
        game.bet(2_500, transaction="one")
        first = game.roll_back("one", transaction="back")
        game.bet(1_000, round="r2")
        assert game.roll_back("one", transaction="back") == first
        again = game.roll_back("one", transaction="back again")
        assert (again.transaction, again.reference, again.balance) == ("back again", first.reference, first.balance)
        assert has(game) == MONEY - 1_000

    def test_before_its_bet_is_remembered_and_the_bet_moves_nothing(self, game):
        first = game.roll_back("one", transaction="back", session=game.session)
        assert (first.reference, first.balance) == (None, MONEY)
        assert refusal(game.bet, 2_500, transaction="one") == "already-rolled-back"
        assert refusal(game.both, 2_500, 10, transaction="one") == "already-rolled-back"
        assert game.roll_back("one", transaction="back") == first
        assert has(game) == MONEY

    @pytest.mark.sweep
    def test_before_its_bet_says_the_balance_of_its_session_and_without_one_none(self, game):
        free = a_game(game.who, game.partner, mode=Mode.FREE)
        free.bet(300)
        assert free.roll_back("one", transaction="back", session=free.session).balance == MONEY - 300
        assert free.roll_back("one", transaction="back").balance == MONEY - 300  # the first answer
        assert free.roll_back("one", transaction="again").balance == MONEY - 300
        for name, session in (("two", None), ("three", "of-nobody")):
            silent = free.roll_back(name, transaction=f"no-{name}", session=session)
            assert (silent.reference, silent.balance) == (None, None)
            assert free.roll_back(name, transaction=f"no-{name}", session=free.session) == silent
        assert (has(game), has(game, Mode.FREE)) == (MONEY, MONEY - 300)

    @pytest.mark.sweep
    def test_of_another_game_or_round_takes_nothing_back(self, game):
        game.bet(2_500, transaction="one")
        assert refusal(game.roll_back, "one", transaction="back", round="r2") == "cannot-take-back"
        assert refusal(game.roll_back, "one", transaction="back", game="poker") == "cannot-take-back"
        assert has(game) == 7_500
        game.roll_back("one", transaction="back")
        assert refusal(game.roll_back, "one", transaction="again", round="r2") == "cannot-take-back"
        assert has(game) == MONEY

    @pytest.mark.sweep
    def test_says_the_balance_it_gave_to_in_whatever_session(self, game):
        free = a_game(game.who, game.partner, mode=Mode.FREE)
        free.bet(300, transaction="one")
        game.bet(100, transaction="two", round="r2")
        assert free.roll_back("one", session=game.session).balance == MONEY
        assert game.roll_back("two", round="r2", session=free.session).balance == MONEY
        assert broken() == []

    @pytest.mark.sweep
    def test_before_its_win_is_remembered_too(self, game):
        game.bet(2_500)
        game.roll_back("won")
        assert refusal(game.win, 5_000, transaction="won") == "already-rolled-back"

    @pytest.mark.sweep
    def test_of_a_bet_that_was_taken_back_leaves_the_bets_first_answer(self, game):
        first = game.bet(2_500, transaction="one")
        game.roll_back("one")
        assert game.bet(2_500, transaction="one") == first

    def test_takes_a_win_back(self, game):
        game.bet(2_500)
        game.win(5_000, transaction="won")
        assert game.roll_back("won").balance == 7_500
        assert has(game) == 7_500

    @pytest.mark.sweep
    def test_of_a_win_that_was_spent_waits_for_money(self, game):
        game.bet(MONEY)
        game.win(5_000, transaction="won")
        game.bet(1_000, round="r2", transaction="two")
        assert refusal(game.roll_back, "won", transaction="back") == "insufficient-funds"
        game.roll_back("two", round="r2")
        assert game.roll_back("won", transaction="back").balance == 0

    def test_of_the_only_bet_of_a_round_that_was_won_is_refused_until_the_win_is_taken_back(self, game):
        game.bet(2_500, transaction="one")
        game.win(5_000, transaction="won")
        assert refusal(game.roll_back, "one") == "round-won"
        game.roll_back("won")
        assert game.roll_back("one").balance == MONEY

    @pytest.mark.sweep
    def test_of_one_bet_of_two_is_taken_though_the_round_was_won(self, game):
        game.bet(2_500, transaction="one")
        game.bet(1_000, transaction="two")
        game.win(5_000)
        assert game.roll_back("two").balance == MONEY + 2_500

    @pytest.mark.sweep
    def test_of_a_bet_and_win_takes_back_both(self, game):
        game.both(2_500, 6_000, transaction="one")
        assert game.roll_back("one").balance == MONEY
        assert broken() == []

    @pytest.mark.sweep
    def test_of_another_studios_bet_is_of_none_that_is_known(self, game):
        game.bet(2_500, transaction="one")
        assert a_game(game.who).roll_back("one").reference is None
        assert has(game) == 7_500

    def test_of_another_players_bet_or_of_a_rollback_is_refused(self, game):
        game.bet(2_500, transaction="one")
        other = a_game(a_player(real=MONEY), game.partner)
        assert refusal(other.roll_back, "one") == "cannot-take-back"
        game.roll_back("one", transaction="back")
        assert refusal(game.roll_back, "back") == "cannot-take-back"
        assert refusal(game.roll_back, "one", currency="EUR") == "wrong-currency"
        game.roll_back("later", transaction="before")
        assert refusal(game.roll_back, "else", transaction="later") == "already-rolled-back"
        assert refusal(other.roll_back, "one") == "cannot-take-back"


class TestBetAndWin:
    def test_is_one_transaction_of_two_journals(self, game):
        done = game.both(2_500, 6_000)
        assert (done.balance, has(game)) == (MONEY + 3_500, MONEY + 3_500)
        assert list(Journal.objects.order_by("-pk").values_list("kind", flat=True)[:2]) == [
            "studio_win",
            "studio_stake",
        ]

    @pytest.mark.sweep
    def test_of_a_lost_round_is_one_journal(self, game):
        assert game.both(2_500, 0).balance == 7_500

    @pytest.mark.sweep
    def test_is_not_covered_by_its_own_win(self, game):
        assert refusal(game.both, MONEY + 1, 3 * MONEY) == "insufficient-funds"
        assert has(game) == MONEY
        assert not Journal.objects.filter(kind__startswith="studio").exists()


def end_session(game):
    sessions.end(session_id=game.log_in.pk, why=Ended.LOGGED_OUT, by=str(game.who))


def exclude(game):
    exclusions.exclude(player=game.who, days=None, reason="for a test", by=a_member_of_staff("compliance"))


def lock(game):
    locks.lock(player=game.who, reason="for a test", by=a_member_of_staff("compliance"))


def switch_off(game):
    partners.switch_off(partner=game.partner, reason="no contract", by=a_member_of_staff("finance"))
    game.partner.refresh_from_db()


def stop_house(game):
    stop()


class TestWhatKeepsABetAway:
    """Reasons that refuse a bet do not refuse a win, a rollback or a repeated answer."""

    CASES = (
        pytest.param(end_session, "session-over", id="session"),
        pytest.param(switch_off, "partner-off", id="partner"),
        pytest.param(stop_house, "house-stopped", id="house"),
        pytest.param(exclude, "not-eligible", id="excluded"),
        pytest.param(lock, "session-over", id="locked"),
    )

    @pytest.mark.parametrize(("happen", "code"), sample(CASES, 2))
    def test_is_said(self, game, happen, code):
        happen(game)
        assert refusal(game.bet, 100) == code
        assert refusal(game.both, 100, 100) == code
        assert has(game) == MONEY

    @pytest.mark.sweep
    @pytest.mark.parametrize(("happen", "code"), sample(CASES, 1))
    def test_and_what_was_staked_before_ends_as_it_would_have(self, game, happen, code):
        asked, other = game.a_bet(1_000), game.a_bet(500, round="r2", transaction="other")
        first = host.bet(game.partner, asked)
        host.bet(game.partner, other)
        happen(game)
        assert host.bet(game.partner, asked) == first
        assert game.win(3_000, session=game.session).balance == MONEY - 1_500 + 3_000
        assert game.roll_back("other", round="r2").balance == MONEY + 2_000
        assert broken() == []

    @pytest.mark.sweep
    def test_a_player_who_takes_a_pause_is_not_eligible_in_their_language(self, game):
        game.who.user.language = "sv"
        game.who.user.save()
        exclusions.pause(player=game.who, by=str(game.who))
        with pytest.raises(host.Refused) as caught:
            game.bet(100)
        assert (caught.value.code, caught.value.detail[:4]) == ("not-eligible", "Ditt")

    @pytest.mark.sweep
    def test_a_token_that_was_never_given_is_no_session(self, game):
        assert refusal(game.bet, 100, session="mine") == "session-over"
        assert refusal(game.bet, 100, session=a_game(a_player(), game.partner).session) == "session-over"
        assert refusal(host.balance, game.partner, messages.BalanceAsked(game.player, "mine")) == "session-over"

    @pytest.mark.sweep
    def test_a_studio_that_is_off_hears_no_balance(self, game):
        switch_off(game)
        asked = messages.BalanceAsked(game.player, game.session)
        assert refusal(host.balance, game.partner, asked) == "partner-off"

    @pytest.mark.sweep
    def test_a_player_is_who_has_opened_a_session_with_this_studio(self, game):
        other = a_partner()
        assert refusal(host.bet, other, game.a_bet(100)) == "unknown-player"
        assert refusal(host.win, other, game.a_win(100)) == "unknown-player"
        assert refusal(host.rollback, other, game.a_rollback("one")) == "unknown-player"
        assert refusal(host.balance, other, messages.BalanceAsked(game.player, game.session)) == "unknown-player"

    @pytest.mark.sweep
    def test_two_studios_call_one_player_differently(self, game):
        assert a_game(game.who).player != game.player
        assert str(game.who.pk) not in game.player or len(game.player) == 22


class TestLimits:
    def test_a_loss_limit_holds_for_a_studios_bets(self, game):
        limits.set_limit(player=game.who, kind=LimitKind.LOSS, period=Period.DAY, amount=3_000, by=str(game.who))
        game.bet(2_000)
        with pytest.raises(host.Refused) as caught:
            game.bet(1_001, round="r2")
        assert caught.value.code == "limit-reached"
        assert caught.value.detail
        game.win(1_000)
        assert game.bet(2_000, round="r2").balance == MONEY - 3_000

    @pytest.mark.sweep
    def test_what_is_rolled_back_is_staked_no_more(self, game):
        limits.set_limit(player=game.who, kind=LimitKind.STAKE, period=Period.DAY, amount=3_000, by=str(game.who))
        game.bet(3_000, transaction="one")
        assert refusal(game.bet, 1, round="r2") == "limit-reached"
        game.roll_back("one")
        game.bet(3_000, round="r2")
        assert Day.objects.get(player=game.who, staked__gt=0).staked == 3_000
        assert broken() == []

    @pytest.mark.sweep
    def test_free_money_has_none(self, game):
        limits.set_limit(player=game.who, kind=LimitKind.STAKE, period=Period.DAY, amount=100, by=str(game.who))
        free = a_game(game.who, game.partner, mode=Mode.FREE)
        free.bet(1_000)


@pytest.mark.sweep
def test_it_goes_on_after_a_stop(game):
    stop()
    assert refusal(game.bet, 100) == "house-stopped"
    go_on()
    assert game.bet(100).balance == MONEY - 100
