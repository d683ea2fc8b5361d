"""The service of Golden Baccarat: exclusive sides, standing bets, and a purse."""

from threading import Barrier, Thread
from uuid import uuid4

import pytest
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from games import solo, tasks
from games.betting.limits import Limits
from games.betting.rules import Change, Deal, lower_bet, plays_on
from games.engine.settle import ExcludedBets
from games.errors import BalanceTooLow, NotOffered, UnknownChip
from games.models import Participation, Round, SoloSeat, Table
from games.tables.checks import check_returns
from games.tables.default_tables import golden_limits, load_tables
from games.tables.status import close_table
from games.tasks import return_idle_purses
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_seat, a_table
from tests.harness.sweeps import sample
from tests.people import events
from tests.voiding import void_unreproduced
from wallet.invariants import verify
from wallet.ledger import accounts, purse
from wallet.models import Account, AccountKind, Mode

MONEY = 1_000_000
LIMITS = Limits.of(golden_limits(), "SEK")


def balances(player, mode=Mode.REAL):
    """Return cash and purse."""
    return accounts.balance(player.pk, mode), purse.balance(player, mode)


def play(player, table, seat, **how):
    return solo.play_round(
        player=player,
        table_id=table.pk,
        mode=Mode(seat.mode),
        round_id=seat.round_id,
        slip_version=seat.slip_version,
        **how,
    )


def again(player, table, mode=Mode.REAL):
    """Deal the bets on the table."""
    return play(player, table, a_seat(player, table, mode))


def take(player, table, bet, chip):
    return solo.take_chip(player=player, table_id=table.pk, mode=Mode.REAL, bet=bet, chip=chip).slip


def change(player, table, what):
    return solo.change_slip(player=player, table_id=table.pk, mode=Mode.REAL, change=what).slip


def lose_down_to(player, table, least):
    """Deal until the purse has less than *least*."""
    while purse.balance(player, Mode.REAL) >= least:
        again(player, table)


def long_ago(player):
    """Move the player's last action nine minutes into the past."""
    for seat in SoloSeat.objects.filter(player=player):
        seat.used_at -= tasks.IDLE
        seat.save(update_fields=["used_at"])


@pytest.fixture
def player(db) -> Player:
    """A player with half their money in the game."""
    player = a_player(real=MONEY, free=MONEY)
    a_purse(player, MONEY // 2)
    return player


@pytest.fixture
def table(db):
    return a_golden_table()


class TestTheAccountAGamePlaysOn:
    def test_follows_from_its_controls(self):
        assert plays_on(VARIANTS["golden"]) is AccountKind.PURSE
        assert plays_on(VARIANTS["baccarat"]) is AccountKind.CASH

    def test_is_the_purse_and_cash_stays_where_it_is(self, player, table):
        played = a_round(player, table, player=1000)
        part = Participation.objects.get(round_id=played.round_id)
        assert part.balance_before == MONEY // 2
        assert balances(player) == (MONEY // 2, MONEY // 2 - part.staked + part.paid)
        assert part.balance_after == purse.balance(player, Mode.REAL)

    def test_of_baccarat_is_cash_though_there_is_a_purse(self, player):
        part = Participation.objects.get(round_id=a_round(player, a_table(), player=1000).round_id)
        assert balances(player) == (MONEY // 2 - part.staked + part.paid, MONEY // 2)

    def test_in_free_mode_is_the_free_purse(self, player, table):
        a_purse(player, 1000, Mode.FREE)
        part = Participation.objects.get(round_id=a_round(player, table, Mode.FREE, player=1000).round_id)
        assert balances(player, Mode.FREE) == (MONEY - 1000, part.paid)
        assert balances(player) == (MONEY // 2, MONEY // 2)

    def test_without_a_rebuy_covers_nothing(self, table):
        rich = a_player(real=MONEY)
        with pytest.raises(BalanceTooLow):
            a_seat(rich, table, player=1000)


class TestSidesExcludeEachOther:
    @pytest.mark.parametrize(("stored", "clicked"), [("player", "banker"), ("banker", "player")])
    def test_so_the_second_is_refused_and_the_first_stays(self, player, table, stored, clicked):
        a_seat(player, table, **{stored: 1000})
        with pytest.raises(ExcludedBets):
            a_seat(player, table, **{clicked: 1000})
        assert a_seat(player, table).slip == {stored: 1000}

    @pytest.mark.sweep
    @pytest.mark.parametrize("side", ["player", "banker"])
    def test_and_tie_is_allowed_with_either(self, player, table, side):
        assert a_seat(player, table, **{side: 1000, "tie": 1000}).slip == {side: 1000, "tie": 1000}

    def test_and_tie_is_allowed_alone(self, player, table):
        assert Participation.objects.get(round_id=a_round(player, table, tie=1000).round_id).staked == 1000


class TestTakingOff:
    def test_takes_one_chip(self, player, table):
        a_seat(player, table, player=5000)
        assert take(player, table, "player", 1000) == {"player": 4000}

    def test_is_done_at_a_closed_table_too(self, player, table):
        a_seat(player, table, player=5000)
        close_table(table_id=table.pk, reason="test", by="staff:1")
        assert take(player, table, "player", 1000) == {"player": 4000}

    def test_takes_what_is_left_where_that_is_less_than_the_chip(self, player, table):
        a_seat(player, table, player=1000, tie=1000)
        assert take(player, table, "player", 5000) == {"tie": 1000}

    def test_takes_nothing_where_nothing_is_placed(self, player, table):
        a_seat(player, table, player=1000)
        assert take(player, table, "tie", 1000) == {"player": 1000}

    def test_takes_no_chip_that_there_is_not(self, player, table):
        a_seat(player, table, player=1000)
        with pytest.raises(UnknownChip):
            take(player, table, "player", 1234)

    def test_works_though_the_balance_no_longer_covers_the_bets(self, player, table):
        a_seat(player, table, player=10_000)
        purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        assert take(player, table, "player", 1000) == {"player": 9000}

    def test_works_at_a_game_without_a_button_for_it_too(self, player):
        other = a_table()
        a_seat(player, other, player=5000)
        assert take(player, other, "player", 1000) == {"player": 4000}
        assert change(player, other, Change.UNDO) == {"player": 5000}


class TestControlsItDoesNotHave:
    @pytest.mark.sweep
    @pytest.mark.parametrize("what", [Change.UNDO, Change.DOUBLE, Change.REPEAT])
    def test_change_nothing(self, player, table, what):
        a_seat(player, table, player=1000)
        with pytest.raises(NotOffered):
            change(player, table, what)

    @pytest.mark.parametrize("how", [Deal.DOUBLED, Deal.REPEATED])
    def test_deal_nothing(self, player, table, how):
        seat = a_seat(player, table, player=1000)
        with pytest.raises(NotOffered):
            play(player, table, seat, how=how)
        assert not Round.objects.exists()

    def test_a_lower_bet_does_not_exist_at_baccarat(self, player):
        other = a_table()
        a_seat(player, other, player=1000)
        with pytest.raises(NotOffered):
            change(player, other, Change.LOWER)


class TestBetsThatStay:
    def test_lie_on_the_table_after_the_round(self, player, table):
        a_round(player, table, player=1000, tie=2000)
        assert a_seat(player, table).slip == {"player": 1000, "tie": 2000}

    def test_are_played_again_by_deal_alone(self, player, table):
        a_round(player, table, player=1000, tie=2000)
        played = again(player, table)
        wagers = Participation.objects.get(round_id=played.round_id).wagers
        assert dict(wagers.values_list("bet", "stake")) == {"player": 1000, "tie": 2000}

    def test_are_cleared(self, player, table):
        a_round(player, table, player=1000)
        assert change(player, table, Change.CLEAR) == {}

    def test_take_no_money_while_they_stay(self, player, table):
        played = a_round(player, table, player=1000)
        part = Participation.objects.get(round_id=played.round_id)
        assert purse.balance(player, Mode.REAL) == part.balance_after

    def test_of_the_same_click_again_are_not_played(self, player, table):
        seat = a_seat(player, table, player=1000)
        play(player, table, seat)
        assert play(player, table, seat).repeated
        assert Round.objects.count() == 1


class TestTooLittleForTheBetsThatStay:
    def test_deals_nothing_and_the_purse_is_never_negative(self, table):
        poor = a_player(real=3000)
        a_purse(poor, 3000)
        a_round(poor, table, tie=2000)
        lose_down_to(poor, table, 2000)
        before = balances(poor)
        with pytest.raises(BalanceTooLow):
            again(poor, table)
        assert balances(poor) == before
        assert min(before) >= 0

    def test_a_lower_bet_is_the_most_that_is_covered(self, table):
        poor = a_player(real=9000)
        a_purse(poor, 9000)
        a_seat(poor, table, player=5000, tie=2000)
        purse.leave(player=poor, mode=Mode.REAL, key=uuid4())
        a_purse(poor, 4000)
        slip = change(poor, table, Change.LOWER)
        assert sum(slip.values()) == 4000
        assert again(poor, table)


@given(
    st.dictionaries(st.sampled_from(["player", "tie"]), st.integers(1, 1000).map(lambda n: n * 1000), min_size=1),
    st.integers(0, 2_000_000),
)
def test_a_lower_bet_is_covered_allowed_and_could_not_be_higher(stakes, funds):
    stakes = {bet: min(stake, LIMITS.bets[bet].maximum) for bet, stake in stakes.items()}
    lowered = lower_bet(stakes, LIMITS, funds)
    total = sum(lowered.values())
    assert total <= funds
    if lowered:
        LIMITS.check(lowered)
    for bet, stake in stakes.items():
        assert lowered.get(bet, 0) <= stake
        assert lowered.get(bet, 0) == stake or total + LIMITS.step > funds
    assert lowered == dict(stakes) if sum(stakes.values()) <= funds else True


class TestAnVoidedRound:
    @pytest.mark.parametrize("left", sample([False, True], 1))
    def test_gives_the_stakes_back_wherever_the_money_is_now(self, player, table, left):
        played = a_round(player, table, player=1000, tie=1000)
        if left:
            purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        void_unreproduced(played.round_id)
        assert sum(balances(player)) == MONEY
        assert [check.rows for check in verify.run() if check.rows] == []


class TestUnusedPurses:
    def test_flow_back_after_nine_minutes(self, player, table):
        a_seat(player, table)
        long_ago(player)
        return_idle_purses()
        assert balances(player) == (MONEY, 0)
        (event,) = events("purse.returned", on=str(player))
        assert (event["by"], event["data"]["why"]) == ("system", "did nothing")

    def test_stay_while_their_owner_plays(self, player, table):
        a_round(player, table, player=1000)
        before = balances(player)
        assert tasks.return_all_idle_purses() == 0
        assert balances(player) == before

    def test_stay_when_their_owner_comes_back_in_time(self, player, table):
        a_seat(player, table)
        long_ago(player)
        a_seat(player, table)
        assert tasks.return_all_idle_purses() == 0

    @pytest.mark.sweep
    def test_flow_back_for_players_and_modes_each(self, player, table):
        other = a_player(real=MONEY, free=MONEY)
        for mode in Mode:
            a_purse(other, 1000, mode)
            a_seat(other, table, mode)
        a_seat(player, table)
        long_ago(other)
        assert tasks.return_all_idle_purses() == 2
        assert balances(other) == balances(other, Mode.FREE) == (MONEY, 0)
        assert balances(player) == (MONEY // 2, MONEY // 2)

    def test_flow_back_once(self, player, table):
        a_seat(player, table)
        long_ago(player)
        assert (tasks.return_all_idle_purses(), tasks.return_all_idle_purses()) == (1, 0)


def test_logging_out_returns_money_held_in_the_game(player, client):
    a_purse(player, 2000, Mode.FREE)
    client.force_login(player.user)
    client.post("/en/account/logout/")
    assert balances(player) == balances(player, Mode.FREE) == (MONEY, 0)
    assert {event["data"]["why"] for event in events("purse.returned", on=str(player))} == {"logged out"}


def test_the_shipped_table_returns_enough_in_every_currency():
    assert set(golden_limits()) == {"SEK", "DKK", "RON", "EUR", "GBP"}
    check_returns("golden", golden_limits())


@pytest.mark.sweep
@pytest.mark.django_db
def test_an_existing_house_gets_the_table(player):
    a_table()
    load_tables()
    assert a_round(player, Table.objects.get(slug="golden"), tie=1000)


class TestTogether:
    """Uses real threads on its own database: money is in exactly one place."""

    ROUNDS = 12

    def test_a_sweep_that_races_a_deal(self, cloned_db):
        player, table = a_player(real=MONEY), a_golden_table()
        for _ in range(self.ROUNDS):
            a_purse(player, 10_000)
            seat = a_seat(player, table)
            if not seat.slip:
                seat = a_seat(player, table, player=1000)
            long_ago(player)
            outcomes = at_once(lambda seat=seat: play(player, table, seat), tasks.return_all_idle_purses)
            assert {type(each) for each in outcomes} <= {solo.Played, BalanceTooLow, int}
            self.all_is_somewhere(player)
        assert [check.rows for check in verify.run() if check.rows] == []

    def test_leaving_that_races_a_rebuy_and_a_deal(self, cloned_db):
        player, table = a_player(real=MONEY), a_golden_table()
        for _ in range(self.ROUNDS):
            a_purse(player, 10_000)
            seat = a_seat(player, table)
            if not seat.slip:
                seat = a_seat(player, table, player=1000)
            outcomes = at_once(
                lambda seat=seat: play(player, table, seat),
                lambda: purse.leave(player=player, mode=Mode.REAL, key=uuid4()),
                lambda: a_purse(player, 1000),
            )
            assert {type(each) for each in outcomes} <= {solo.Played, BalanceTooLow, purse.Returned, type(None)}
            self.all_is_somewhere(player)
        assert [check.rows for check in verify.run() if check.rows] == []

    def all_is_somewhere(self, player):
        won = sum(part.paid - part.staked for part in Participation.objects.all())
        assert sum(balances(player)) == MONEY + won

    def test_one_form_sent_by_many_tabs_moves_money_once(self, cloned_db):
        player, key = a_player(real=MONEY), uuid4()
        at_once(*[lambda: purse.rebuy(player=player, mode=Mode.REAL, amount=1000, key=key)] * 8)
        assert balances(player) == (MONEY - 1000, 1000)
        assert Account.objects.filter(owner=player, kind=AccountKind.PURSE).count() == 1
        outcomes = at_once(*[lambda: purse.leave(player=player, mode=Mode.REAL, key=key)] * 8)
        assert {each.amount for each in outcomes} == {1000}
        assert balances(player) == (MONEY, 0)


def at_once(*works):
    barrier, results = Barrier(len(works)), []

    def run(work):
        barrier.wait()
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001  (the test looks at every outcome)
            results.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
