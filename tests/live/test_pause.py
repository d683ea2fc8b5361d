"""Pausing a shared table: the round is played to its end, the next one waits, and no bet is lost."""

import pytest
from django.conf import settings

from audit.raw_rows import fetch_named
from games.betting.rules import Change
from games.chemin.stop import continue_table
from games.engine.chemin.state import there
from games.errors import TablePaused
from games.models import Incident, LiveTable, Phase, Round
from games.shared import malfunction, phases
from games.shared.pages import rendering
from games.shared.pages.lobby_card import READ_CARDS, CardState, card_state, render_card
from games.shared.pages.views import read_own, read_public
from games.tables.status import close_table, open_table, pause_table
from players.models import Player
from tests.builders import a_player, put_live
from tests.harness.sweeps import sweep_languages
from tests.live.at_table import a_live_table, advance_to, bet, hurry, make_late, round_at, slip_of, step
from tests.live.betting import chip, press
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY = 1_000_000
PAUSES = "This table is paused. The next round opens when the table resumes."


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def player(live_table: LiveTable) -> Player:
    """A player with a bet on the round."""
    player = a_player(real=MONEY)
    bet(player, live_table, player=25_000)
    return player


def pause(live_table: LiveTable) -> None:
    pause_table(table_id=live_table.table_id, reason="A card is bent.", by="staff:7")


def go_on(live_table: LiveTable) -> None:
    continue_table(table_id=live_table.table_id, reason="A new deck is on the table.", by="staff:7")


def public(live_table: LiveTable, language: str = "en") -> str:
    return rendering.render_public(read_public(live_table), language)


def own(live_table: LiveTable, player: Player) -> str:
    return rendering.render_own(read_public(live_table), read_own(live_table, player.pk), "en")


def card_of(live_table: LiveTable) -> CardState:
    row = there(fetch_named(READ_CARDS, [[live_table.pk]]))
    card = card_state(row)
    assert isinstance(card, CardState)
    return card


class TestTheRoundInProgress:
    def test_gli19_2_4_1_a_round_is_played_to_its_end_at_a_table_that_pauses_and_none_begins(self, live_table, player):
        pause(live_table)
        chip(player, live_table, "banker", 5_000)  # while betting is still open
        assert [step(live_table).phase for _ in range(3)] == [Phase.CLOSED, Phase.DEALT, Phase.SETTLED]
        assert Round.objects.filter(pk=round_at(live_table).pk).exists()
        hurry(live_table)
        assert phases.due() == []
        assert not phases.advance(live_table.pk)

    def test_without_bets_ends_when_its_time_is_up(self, live_table):
        pause(live_table)
        assert step(live_table).phase == Phase.VOID
        hurry(live_table)
        assert not phases.advance(live_table.pk)


class TestWhileItPauses:
    def test_a_bet_is_refused_with_that_sentence(self, live_table, player):
        advance_to(live_table, Phase.SETTLED)
        pause(live_table)
        with pytest.raises(TablePaused):
            chip(player, live_table, "player", 5_000)
        with pytest.raises(TablePaused):
            press(player, live_table, Change.REPEAT)

    @pytest.mark.sweep
    def test_a_malfunction_goes_before_the_pause(self, live_table, player):
        pause(live_table)
        malfunction.report(round_id=round_at(live_table).pk, cause="A card lay face up.", by="staff:7")
        assert "The table is stopped" in public(live_table)
        assert PAUSES not in public(live_table)
        go_on(live_table)
        hurry(live_table)
        assert not phases.advance(live_table.pk)

    @pytest.mark.sweep
    def test_idle_hours_are_no_malfunction(self, live_table, player):
        advance_to(live_table, Phase.SETTLED)
        pause(live_table)
        make_late(live_table, 100 * settings.LIVE_LATE_SECONDS)
        assert phases.due() == []
        go_on(live_table)
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.BETTING
        assert not Incident.objects.exists()

    @pytest.mark.sweep
    def test_another_version_comes_into_force_with_the_round_after_it(self, live_table, player):
        before = advance_to(live_table, Phase.SETTLED).version
        pause(live_table)
        limits = {**before.limits, "SEK": {**before.limits["SEK"], "tray": before.limits["SEK"]["tray"][:3]}}
        put_live(table_id=live_table.table_id, limits=limits, reason="for a test")
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        go_on(live_table)
        assert step(live_table).version.number == before.number + 1


class TestGoingOn:
    @pytest.mark.sweep
    def test_keeps_shoe_and_what_rebet_places(self, live_table, player):
        ended = advance_to(live_table, Phase.SETTLED)
        pause(live_table)
        go_on(live_table)
        begun = step(live_table)
        assert (begun.phase, begun.shoe_id, begun.number) == (Phase.BETTING, ended.shoe_id, ended.number + 1)
        press(player, live_table, Change.REPEAT)
        assert slip_of(player, begun) == {"player": 25_000}

    @pytest.mark.sweep
    def test_before_its_round_has_ended_is_as_if_it_had_never_paused(self, live_table, player):
        pause(live_table)
        go_on(live_table)
        advance_to(live_table, Phase.SETTLED)
        assert step(live_table).phase == Phase.BETTING

    @pytest.mark.sweep
    def test_of_a_paused_table_that_was_closed_takes_opening_it(self, live_table, player):
        pause(live_table)
        close_table(table_id=live_table.table_id, reason="The evening ends.", by="staff:7")
        advance_to(live_table, Phase.SETTLED)
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        open_table(table_id=live_table.table_id, reason="The next evening.", by="staff:7")
        assert step(live_table).phase == Phase.BETTING


class TestWhatPlayersSee:
    @pytest.mark.sweep
    def test_at_the_table_first_that_it_will_pause_and_then_that_it_does(self, live_table, player):
        key = read_public(live_table)
        pause(live_table)
        assert "The table pauses after this round." in public(live_table)
        assert rendering.own_key(key) != rendering.own_key(read_public(live_table))
        advance_to(live_table, Phase.SETTLED)
        text = public(live_table)
        assert PAUSES in text
        assert 'data-phase="paused"' in text
        assert "data-deadline" not in text
        assert 'data-phase="settled"' not in text
        assert "is closed" not in text

    def test_nothing_can_be_pressed(self, live_table, player):
        advance_to(live_table, Phase.SETTLED)
        pause(live_table)
        assert 'id="act-rebet"' in own(live_table, player)
        pressable = own(live_table, player).split('id="act-rebet"')[1].split(">")[0]
        assert "disabled" in pressable

    @pytest.mark.sweep
    def test_at_a_table_where_no_round_was_played(self, live_table):
        pause(live_table)
        step(live_table)
        text = public(live_table)
        assert "The table is paused" in text
        assert "The next round opens when the table resumes." in text
        assert "data-deadline" not in text

    @pytest.mark.sweep
    @pytest.mark.parametrize("mode", Mode)
    def test_in_the_lobby_for_all_money_that_it_is_played_for(self, mode):
        live_table = a_live_table(mode=mode)
        pause(live_table)
        assert (card_of(live_table).status, card_of(live_table).is_paused) == (Phase.BETTING, True)
        step(live_table)
        card = card_of(live_table)
        assert (card.status, card.may_enter) == ("paused", True)
        text = render_card(card, "en")
        assert '<p class="badge badge--brass">paused</p>' in text
        assert "data-deadline" not in text

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages([code for code, _name in settings.LANGUAGES if code != "en"]))
    def test_each_in_their_language(self, live_table, player, language):
        advance_to(live_table, Phase.SETTLED)
        pause(live_table)
        assert PAUSES not in public(live_table, language)
        assert "The table is paused" not in render_card(card_of(live_table), language)
        assert ">paused<" not in render_card(card_of(live_table), language)
