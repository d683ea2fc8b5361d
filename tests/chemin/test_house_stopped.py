"""Chemin de Fer tables during a house stop: no new stakes, a staked coup is finished.

Between two coups everyone keeps their money and seats, as at a paused table.
"""

from datetime import timedelta

import pytest
from django.conf import settings

from backoffice import house_stop
from games.chemin import play, tick
from games.engine.chemin import Call, Phase
from games.engine.chemin.state import there
from games.engine.chemin.steps.phases import IN_COUP
from games.errors import HouseStopped
from games.models import CheminMove, Decider, Incident, LiveRound, LiveTable
from games.tables.status import close_table
from players.models import Player
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_bank_to_keep,
    a_chemin_table,
    a_practice_table,
    a_seated_player,
    a_staked_coup,
    answer,
    answer_by_the_rule,
    asked,
    asked_at,
    before_the_croupier,
    cash,
    chemin_of,
    hurry,
    let_pass,
    seated_players,
    seen_of,
    sit,
    step,
    step_to,
    table_state_of,
    time_given,
)
from tests.chemin.test_pause import PAUSES, a_bid, coups, own, public, tick_all
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff
from wallet.models import AccountKind

pytestmark = pytest.mark.django_db
HOURS = 100 * settings.LIVE_LATE_SECONDS


@pytest.fixture
def table() -> LiveTable:
    return a_chemin_table()


def stop() -> None:
    house_stop.stop(reason="The authority asks for it.", by=a_member_of_staff("supervisor"))


def go_on() -> None:
    house_stop.resume(reason="All is well.", by=a_member_of_staff("supervisor"))


def money_of(*players: Player) -> list[tuple[int, int]]:
    """Return balance and held amount of each player's account."""
    return [(cash(player).balance or 0, cash(player).held) for player in players]


class TestBeforeTheCards:
    def test_gli19_2_4_1_nobody_takes_a_bank(self, table):
        players = seated_players(table, 2)
        stop()
        before = money_of(*players)
        with pytest.raises(HouseStopped):
            a_bank(table)
        assert money_of(*players) == before
        assert (before_the_croupier(AccountKind.BANK), coups(table)) == (0, 0)

    @pytest.mark.sweep
    def test_nobody_keeps_one(self, table):
        players = seated_players(table, 2)
        banker = asked_at(a_bank_to_keep(table))
        played = coups(table)
        stop()
        before, bank = money_of(*players), seen_of(table).bank
        with pytest.raises(HouseStopped):
            answer(banker, table, "keep_bank")
        assert (seen_of(table).bank, money_of(*players), coups(table)) == (bank, before, played)

    @pytest.mark.sweep
    def test_who_wants_the_bank_back_gets_up(self, table):
        seated_players(table, 2)
        banker = asked_at(a_bank_to_keep(table))
        stop()
        play.leave(player=banker, live_table_id=table.pk)
        assert before_the_croupier(AccountKind.BANK) == 0

    def test_nobody_bids_and_bids_lie_where_they_are(self, table):
        bidder = a_bid(table)
        next_one, held = asked_at(table), cash(bidder).held
        stop()
        with pytest.raises(HouseStopped):
            answer(next_one, table, "make_bid", 3_000)
        hurry(table, HOURS)
        tick_all()
        assert cash(bidder).held == held
        play.leave(player=bidder, live_table_id=table.pk)
        assert cash(bidder).held == 0

    @pytest.mark.parametrize("amount", sample([1_000, 4_000], 1))
    def test_nobody_calls_or_stakes_and_who_has_not_may_pass(self, table, amount):
        players = seated_players(table, 3)
        a_bank(table)
        stop()
        before = money_of(*players)
        with pytest.raises(HouseStopped):
            answer(asked_at(table), table, "make_call", call=Call.BANCO)
        while seen_of(table).phase is Phase.CALLS:
            let_pass(table)
        with pytest.raises(HouseStopped):
            answer(asked_at(table), table, "lay_stake", amount)
        assert money_of(*players) == before
        while seen_of(table).phase is Phase.STAKES:
            let_pass(table)
        assert seen_of(table).phase not in IN_COUP  # nobody has staked, so there are no cards
        assert before_the_croupier(AccountKind.STAKES) == 0

    def test_nobody_sits_down(self, table):
        stop()
        with pytest.raises(HouseStopped):
            a_seated_player(table, 1)


class TestACoupWithStakes:
    def test_gli19_2_4_1_is_dealt_played_and_paid_and_no_other_begins(self, table):
        players = seated_players(table, 2)
        a_staked_coup(table)
        stop()
        while seen_of(table).phase in IN_COUP:
            answer_by_the_rule(table)
        assert LiveRound.objects.get().phase == "settled"
        assert before_the_croupier(AccountKind.STAKES) == 0
        question = chemin_of(table).question
        assert not step(table, HOURS)
        assert (chemin_of(table).question, coups(table)) == (question, 1)
        assert len(table_state_of(table).seats) == len(players)

    def test_goes_on_by_the_croupier_where_nobody_answers(self, table):
        seated_players(table, 2)
        a_staked_coup(table)
        stop()
        step_to(table, Phase.CHOICE, Phase.OFFER)
        assert LiveRound.objects.get().phase == "settled"


class TestHousePlayers:
    @pytest.mark.sweep
    def test_put_nothing_down_and_are_there_again(self):
        table = a_practice_table(2)
        player = a_player(free=MONEY)
        sit(player, table, 1)
        while asked(table) != player or seen_of(table).phase is not Phase.OFFER:
            if asked(table) == player:
                answer_by_the_rule(table)
            else:
                assert step(table)
        a_bank(table)
        stop()
        while seen_of(table).phase in IN_COUP:
            assert step(table)
        since = CheminMove.objects.filter(live_table=table, decider=Decider.HOUSE_PLAYER).order_by("-number")
        assert there(since.first()).kind == "pass"
        assert not Incident.objects.exists()
        played = coups(table)
        hurry(table, HOURS)
        tick_all()
        assert coups(table) == played
        go_on()
        assert len(table_state_of(table).seats) == 3


class TestWhatPlayersSee:
    @pytest.mark.sweep
    def test_between_two_coups_that_play_is_stopped_and_nobody_is_asked(self, table):
        seated_players(table, 2)
        banker = asked_at(a_bank_to_keep(table))
        stop()
        text = public(table)
        assert 'data-say=" Play is stopped"' in text
        assert PAUSES not in text
        assert "data-deadline" not in text
        text = own(table, banker)
        assert "No decisions are needed until play resumes. Your money is safe." in text
        assert "Your turn" not in text
        assert 'class="options"' not in text
        go_on()
        assert "Play is stopped" not in public(table)

    @pytest.mark.sweep
    @pytest.mark.parametrize("phase", sample([Phase.CALLS, Phase.STAKES], 1))
    def test_a_player_asked_for_money_may_only_pass(self, table, phase):
        seated_players(table, 3)
        a_bank(table)
        while seen_of(table).phase is not phase:
            let_pass(table)
        assert 'name="amount"' in own(table, asked_at(table))
        stop()
        text = own(table, asked_at(table))
        assert "Play is stopped and no more stakes are accepted. You may pass." in text
        assert 'value="pass"' in text
        for word in ("make_call", "lay_stake", 'name="amount"'):
            assert word not in text, word
        assert "Play is stopped. This coup will be completed and paid." in public(table)

    @pytest.mark.sweep
    def test_while_cards_are_played_what_they_always_may(self, table):
        seated_players(table, 2)
        a_staked_coup(table)
        before = own(table, asked_at(table)).count('class="option')
        stop()
        assert own(table, asked_at(table)).count('class="option') == before > 0


class TestGoingOn:
    @pytest.mark.sweep
    def test_gives_everybody_their_time_again(self, table):
        seated_players(table, 2)
        banker = asked_at(a_bank_to_keep(table))
        stop()
        hurry(table, HOURS)
        assert tick.due() == []
        go_on()
        assert time_given(chemin_of(table)) == timedelta(milliseconds=table_state_of(table).clock.choice)
        answer(banker, table, "keep_bank")
        assert not Incident.objects.exists()

    @pytest.mark.sweep
    def test_opens_no_table_that_was_closed_in_the_meantime(self, table):
        players = seated_players(table, 2)
        stop()
        close_table(table_id=table.table_id, reason="The evening ends.", by="staff:7")
        tick_all()
        assert not table_state_of(table).seats
        go_on()
        assert money_of(*players) == [(MONEY, 0)] * 2
