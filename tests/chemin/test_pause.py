"""Pausing a Chemin de Fer table: the coup is finished; banks, bids and seats wait.

The time of the pause does not count for any deadline.
"""

from datetime import timedelta

import pytest
from django.conf import settings

from audit.raw_rows import fetch_named
from games.chemin import play, tick
from games.chemin.pages.lobby_card import CheminCardState
from games.chemin.pages.rendering import READ_OWN, READ_PUBLIC, own_key, render_own, render_public
from games.chemin.state.snapshots import public_state
from games.chemin.stop import continue_table
from games.engine.chemin import Phase
from games.engine.chemin.state import there
from games.engine.chemin.steps.phases import IN_COUP
from games.errors import TablePaused
from games.models import CheminSeat, Incident, LiveRound, LiveTable, WhyLeft
from games.shared import malfunction
from games.tables.status import close_table, pause_table
from players.login import sessions
from players.models import Ended, Player
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_bank_to_keep,
    a_chemin_table,
    a_practice_table,
    a_seated_player,
    a_session,
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
from tests.chemin.test_lobby import card_of
from tests.harness.owner import as_owner, update_as_owner
from wallet.models import AccountKind

pytestmark = pytest.mark.django_db
PAUSES = "This table is paused. The next round opens when the table resumes."
HOURS = 100 * settings.LIVE_LATE_SECONDS


@pytest.fixture
def table() -> LiveTable:
    return a_chemin_table()


def pause(table: LiveTable) -> None:
    pause_table(table_id=table.table_id, reason="A card is bent.", by="staff:7")


def go_on(table: LiveTable) -> None:
    continue_table(table_id=table.table_id, reason="A new deck is on the table.", by="staff:7")


def tick_all() -> None:
    """Run all due steps at all tables."""
    for each in tick.due():
        tick.advance(each)


def coups(table: LiveTable) -> int:
    return LiveRound.objects.filter(live_table=table).count()


def public(table: LiveTable) -> str:
    return render_public(public_state(there(fetch_named(READ_PUBLIC, [table.pk]))), "en")


def own(table: LiveTable, player: Player) -> str:
    row = there(fetch_named(READ_OWN, [table.pk, [player.pk]]))
    return render_own(public_state(there(fetch_named(READ_PUBLIC, [table.pk]))), row, "en")


def a_bid(table: LiveTable) -> Player:
    """Auction a bank and make a bid; return the bidder. Other players are asked afterwards."""
    seated_players(table, 3)
    banker = asked_at(a_bank_to_keep(table))
    answer(banker, table, "give_suite")
    while seen_of(table).phase is Phase.SUITE:
        let_pass(table)
    assert seen_of(table).phase is Phase.AUCTION
    bidder = asked_at(table)
    answer(bidder, table, "make_bid", 2_000)
    return bidder


def away_for(table: LiveTable, milliseconds: int) -> None:
    """Move the start of all absences into the past."""
    as_owner(
        "UPDATE games_cheminseat SET away_since = clock_timestamp() - make_interval(secs => %s)"
        " WHERE live_table_id = %s AND away_since IS NOT NULL",
        [milliseconds / 1000, table.pk],
    )


class TestTheCoupInProgress:
    def test_gli19_2_4_1_a_coup_is_played_to_its_end_at_a_table_that_pauses_and_none_begins(self, table):
        seated_players(table, 2)
        a_staked_coup(table)
        pause(table)
        asking = step_to(table, Phase.CHOICE, Phase.OFFER)
        assert asking.phase not in IN_COUP
        assert coups(table) == 1
        question = chemin_of(table).question
        assert not step(table, HOURS)
        assert (chemin_of(table).question, coups(table)) == (question, 1)

    def test_its_players_answer_and_their_time_runs(self, table):
        seated_players(table, 3)
        a_bank(table)
        pause(table)
        let_pass(table)
        assert step(table)  # the croupier answers for the next player


class TestTheBanker:
    def test_keeps_bank_and_question_and_answers_once_it_goes_on(self, table):
        players = seated_players(table, 2)
        banker = asked_at(a_bank_to_keep(table))
        bank, played = seen_of(table).bank, coups(table)
        pause(table)
        with pytest.raises(TablePaused):
            answer(banker, table, "keep_bank")
        hurry(table, HOURS)
        assert tick.due() == []
        assert not tick.advance(table.pk)
        go_on(table)
        assert seen_of(table).bank == bank
        assert time_given(chemin_of(table)) == timedelta(milliseconds=table_state_of(table).clock.choice)
        answer(banker, table, "keep_bank")
        assert coups(table) == played + 1
        assert CheminSeat.objects.filter(player__in=players, left_at=None, missed=0).count() == len(players)

    def test_nobody_takes_a_bank_that_is_offered(self, table):
        seated_players(table, 2)
        pause(table)
        with pytest.raises(TablePaused):
            a_bank(table)
        assert before_the_croupier(AccountKind.BANK) == 0

    @pytest.mark.sweep
    def test_who_goes_takes_the_bank_home_and_it_is_offered_when_the_table_goes_on(self, table):
        seated_players(table, 2)
        banker = asked_at(a_bank_to_keep(table))
        a_seated_player(table, 3)
        pause(table)
        play.leave(player=banker, live_table_id=table.pk)
        assert before_the_croupier(AccountKind.BANK) == 0
        assert seen_of(table).phase is Phase.SUITE
        with pytest.raises(TablePaused):
            let_pass(table)
        go_on(table)
        let_pass(table)


class TestBids:
    @pytest.mark.sweep
    def test_lie_where_they_are_and_the_sale_goes_on_with_who_was_asked(self, table):
        bidder = a_bid(table)
        next_one, played, free = asked_at(table), coups(table), cash(bidder).held
        pause(table)
        with pytest.raises(TablePaused):
            answer(next_one, table, "pass")
        hurry(table, HOURS)
        tick_all()
        assert (cash(bidder).held, coups(table)) == (free, played)
        assert free == 2_000
        go_on(table)
        assert asked_at(table) == next_one
        let_pass(table)
        assert coups(table) == played + 1  # the bidder has the bank

    @pytest.mark.sweep
    def test_are_withdrawn_by_who_goes(self, table):
        bidder = a_bid(table)
        pause(table)
        play.leave(player=bidder, live_table_id=table.pk)
        assert cash(bidder).held == 0

    @pytest.mark.sweep
    def test_a_player_the_sale_waits_for_goes_once_it_continues(self, table):
        """Otherwise the bank would be sold and a coup would begin while the table is paused."""
        a_bid(table)
        last, played = asked_at(table), coups(table)
        pause(table)
        for step_back in (play.leave, play.step_away):
            with pytest.raises(TablePaused):
                step_back(player=last, live_table_id=table.pk)
        go_on(table)
        play.leave(player=last, live_table_id=table.pk)
        assert coups(table) == played + 1

    @pytest.mark.sweep
    def test_nor_does_the_house_have_them_go_before(self, table):
        a_bid(table)
        last, played = asked_at(table), coups(table)
        session = a_session(last)
        update_as_owner(CheminSeat.objects.filter(player=last), session=session)
        sessions.end(session_id=session, why=Ended.LOGGED_OUT, by=str(last))
        pause(table)
        tick_all()
        assert coups(table) == played
        assert CheminSeat.objects.get(player=last).left_at is None
        go_on(table)
        tick_all()
        assert CheminSeat.objects.get(player=last).why_left == WhyLeft.SESSION


class TestSeats:
    @pytest.mark.sweep
    def test_a_player_who_is_away_keeps_the_seat_however_long_it_pauses(self, table):
        player = a_seated_player(table, 1)
        players_of_the_others = a_seated_player(table, 2)
        play.step_away(player=player, live_table_id=table.pk)
        pause(table)
        away_for(table, 2 * table_state_of(table).clock.removal)
        assert tick.due() == []
        assert not tick.advance(table.pk)
        go_on(table)
        assert tick.due() == []
        away_for(table, 2 * table_state_of(table).clock.removal)
        assert tick.advance(table.pk)
        assert CheminSeat.objects.get(player=player).why_left == WhyLeft.REMOVED
        assert CheminSeat.objects.get(player=players_of_the_others).left_at is None

    def test_nobody_sits_down(self, table):
        pause(table)
        with pytest.raises(TablePaused):
            a_seated_player(table, 1)

    @pytest.mark.sweep
    def test_players_step_away_come_back_and_get_up_as_they_like(self, table):
        first, second = seated_players(table, 2)
        pause(table)
        play.step_away(player=first, live_table_id=table.pk)
        play.come_back(player=first, live_table_id=table.pk)
        play.leave(player=second, live_table_id=table.pk)
        assert list(table_state_of(table).seats) == [1]
        assert cash(second).held == 0

    @pytest.mark.sweep
    def test_closing_has_everybody_get_up_with_what_is_theirs(self, table):
        players = seated_players(table, 2)
        a_bank_to_keep(table)
        pause(table)
        close_table(table_id=table.table_id, reason="The evening ends.", by="staff:7")
        assert tick.due() == [table.pk]
        assert tick.advance(table.pk)
        assert not table_state_of(table).seats
        assert before_the_croupier(AccountKind.BANK) == 0
        assert set(CheminSeat.objects.filter(player__in=players).values_list("why_left", flat=True)) == {WhyLeft.CLOSED}

    def test_house_players_wait_with_their_player(self):
        table = a_practice_table()
        player = a_player(free=MONEY)
        sit(player, table, 1)
        pause(table)
        played = coups(table)
        hurry(table, HOURS)
        tick_all()
        assert coups(table) == played
        go_on(table)
        assert len(table_state_of(table).seats) > 1

    @pytest.mark.sweep
    def test_house_players_whose_player_goes_amid_a_sale_begin_nothing(self, monkeypatch):
        """If the asked house player left, the bidder would get the bank."""
        table = a_practice_table(2, seat_count=3)
        player = a_player(free=MONEY)
        sit(player, table, 2)
        monkeypatch.setattr(tick, "choose", lambda view, chance: view.options[-1].action)  # let it pass
        while seen_of(table).phase is not Phase.CHOICE:
            if asked(table) != player:
                assert step(table)
            elif seen_of(table).phase is Phase.OFFER:
                a_bank(table)
            else:
                answer_by_the_rule(table)
        answer(player, table, "give_suite")
        while seen_of(table).phase is Phase.SUITE:
            assert step(table)
        monkeypatch.setattr(tick, "choose", lambda view, chance: view.options[0].at(1_000))
        assert step(table)
        assert (seen_of(table).phase, asked(table)) == (Phase.AUCTION, None)
        played = coups(table)
        pause(table)
        play.leave(player=player, live_table_id=table.pk)
        assert (table_state_of(table).seats, coups(table)) == ({}, played)


class TestAMalfunction:
    def test_goes_before_the_pause(self, table):
        seated_players(table, 2)
        a_bank(table)
        pause(table)
        incident = malfunction.report(round_id=LiveRound.objects.get().pk, cause="A card lay face up.", by="staff:7")
        assert "Something went wrong." in public(table)
        go_on(table)
        assert not step(table, HOURS)
        malfunction.let_stand(incident_id=incident.pk, reason="It did not.", by="staff:7")
        malfunction.reopen(live_table_id=table.pk, reason="Go on.", by="staff:7")
        assert step(table)

    @pytest.mark.sweep
    def test_idle_hours_are_no_pause(self, table):
        seated_players(table, 2)
        a_bank_to_keep(table)
        pause(table)
        hurry(table, HOURS)
        tick_all()
        go_on(table)
        tick_all()
        assert not Incident.objects.exists()


class TestWhatPlayersSee:
    @pytest.mark.sweep
    def test_first_that_it_will_pause_and_then_that_it_does(self, table):
        seated_players(table, 2)
        a_staked_coup(table)
        before = own_key(public_state(there(fetch_named(READ_PUBLIC, [table.pk]))))
        pause(table)
        assert "The table pauses after this coup." in public(table)
        assert "data-deadline" in public(table)
        assert own_key(public_state(there(fetch_named(READ_PUBLIC, [table.pk])))) != before
        step_to(table, Phase.CHOICE, Phase.OFFER)
        text = public(table)
        assert PAUSES in text
        assert 'data-phase="paused"' in text
        assert "data-deadline" not in text
        assert "data-turn" not in text
        assert "closes" not in text

    @pytest.mark.sweep
    def test_who_was_asked_is_asked_nothing(self, table):
        seated_players(table, 2)
        banker = asked_at(a_bank_to_keep(table))
        assert "Your turn" in own(table, banker)
        pause(table)
        text = own(table, banker)
        assert PAUSES in text
        assert "Your turn" not in text
        assert 'class="options"' not in text
        assert 'value="leave' in text

    def test_a_spectator_finds_no_seat_to_choose(self, table):
        seated_players(table, 2)
        pause(table)
        text = own(table, a_player(real=MONEY))
        assert PAUSES in text
        assert "data-may-sit" not in text

    @pytest.mark.sweep
    def test_a_player_who_is_away_reads_that_the_seat_is_kept(self, table):
        player, _ = seated_players(table, 2)
        play.step_away(player=player, live_table_id=table.pk)
        assert "We are keeping your seat until" in own(table, player)
        pause(table)
        assert "You are away. We are keeping your seat" in own(table, player)

    @pytest.mark.sweep
    def test_in_the_lobby(self, table):
        seated_players(table, 2)
        pause(table)
        card: CheminCardState = card_of(table)
        assert (card.status, card.is_open, card.may_enter) == ("paused", False, True)
