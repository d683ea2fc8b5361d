"""Concurrent repeated calls of studios: the race is shown first on an unguarded table, then
prevented.
"""

from functools import partial
from threading import Barrier

import pytest
from django.db import connection

from tests.builders import a_player
from tests.wallet.studios import a_game, broken
from tests.wallet.test_at_once import THREADS, at_once
from wallet.ledger.accounts import balance
from wallet.models import Mode, StudioTransaction
from wallet.seamless_wallet import host

MONEY = 10_000


def said(ask):
    """Return the answer, or the code of a refusal."""
    try:
        return ask()
    except host.Refused as refusal:
        return refusal.code


class TestOneTransaction:
    def test_checking_first_takes_one_bet_many_times(self, cloned_db, owner):
        """The race: all see that the bet is new, and all accept it."""
        owner.execute("CREATE TABLE unguarded (name text)")
        owner.execute("GRANT SELECT, INSERT ON unguarded TO sabot_app")
        have_read = Barrier(THREADS)

        def check_then_take() -> bool:
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM unguarded WHERE name = 'one'")
                (known,) = cursor.fetchone()
                have_read.wait(timeout=30)
                if known:
                    return False
                cursor.execute("INSERT INTO unguarded VALUES ('one')")
            return True

        assert at_once([check_then_take] * THREADS) == [True] * THREADS

    @pytest.mark.parametrize("operation", ["bet", "both", "win", "rollback"])
    def test_is_done_once_and_all_get_its_answer(self, cloned_db, operation):
        game = a_game(a_player(real=MONEY))
        game.bet(1_000, transaction="before")
        ask = {
            "bet": partial(host.bet, game.partner, game.a_bet(100)),
            "both": partial(host.bet_and_win, game.partner, game.both_at_once(100, 300)),
            "win": partial(host.win, game.partner, game.a_win(300)),
            "rollback": partial(host.rollback, game.partner, game.a_rollback("before")),
        }[operation]
        answers = at_once([ask] * THREADS)
        assert len(set(answers)) == 1
        assert balance(game.who.pk, Mode.REAL) == answers[0].balance
        assert StudioTransaction.objects.count() == 2
        assert broken() == []

    def test_of_different_contents_is_done_once(self, cloned_db):
        game = a_game(a_player(real=MONEY))
        bets = [partial(host.bet, game.partner, game.a_bet(amount, transaction="one")) for amount in range(1, 9)]
        answers = at_once([partial(said, bet) for bet in bets])
        assert answers.count("transaction-conflict") == 7

    def test_of_different_players_is_one_players(self, cloned_db):
        """Neither sees the other's row or waits for the other's account: the index decides."""
        one = a_game(a_player(real=MONEY))
        games = [one, *(a_game(a_player(real=MONEY), one.partner) for _ in range(5))]
        bets = [partial(host.bet, one.partner, game.a_bet(100, transaction="one")) for game in games]
        answers = at_once([partial(said, bet) for bet in bets])
        assert answers.count("transaction-conflict") == 5
        assert sorted(balance(game.who.pk, Mode.REAL) for game in games) == [MONEY - 100] + [MONEY] * 5

    def test_what_one_has_is_bet_once(self, cloned_db):
        game = a_game(a_player(real=MONEY))
        answers = at_once([partial(said, partial(host.bet, game.partner, game.a_bet(MONEY))) for _ in range(THREADS)])
        assert answers.count("insufficient-funds") == THREADS - 1


class TestABetAndWhatTakesItBack:
    def test_move_nothing_together_whichever_is_first(self, cloned_db):
        game = a_game(a_player(real=MONEY))
        for number in range(12):
            name = f"bet-{number}"
            bet = partial(host.bet, game.partner, game.a_bet(100, transaction=name, round=name))
            back = partial(host.rollback, game.partner, game.a_rollback(name, round=name))
            jobs = [partial(said, bet), partial(said, back)]
            came, taken = at_once(jobs if number % 2 else jobs[::-1])[:: 1 if number % 2 else -1]
            assert (came == "already-rolled-back") == (taken.reference is None)
            assert balance(game.who.pk, Mode.REAL) == MONEY
        assert broken() == []

    def test_of_two_players_never_both_stand(self, cloned_db):
        """They share no account, so the database makes each wait for the transaction name."""
        game = a_game(a_player(real=MONEY))
        other = a_game(a_player(real=MONEY), game.partner)
        for number in range(12):
            name = f"bet-{number}"
            bet = partial(host.bet, game.partner, game.a_bet(100, transaction=name, round=name))
            back = partial(host.rollback, game.partner, other.a_rollback(name, round=name))
            came, taken = at_once([partial(said, bet), partial(said, back)])
            assert (came == "already-rolled-back") != (taken == "cannot-take-back")
        assert broken() == []

    def test_a_win_and_a_rollback_of_its_only_bet_never_both_stand(self, cloned_db):
        game = a_game(a_player(real=MONEY))
        for number in range(12):
            name = f"bet-{number}"
            game.bet(100, transaction=name, round=name)
            won = partial(said, partial(host.win, game.partner, game.a_win(500, round=name)))
            back = partial(said, partial(host.rollback, game.partner, game.a_rollback(name, round=name)))
            assert {"no-bet", "round-won"} & {each for each in at_once([won, back]) if isinstance(each, str)}
        assert broken() == []
