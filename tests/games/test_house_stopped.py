"""Solo and shared tables during a house stop: no stakes, bets can be removed, rounds finish."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import gettext, override

from audit.raw_rows import fetch_named
from backoffice import house_stop
from games.betting.rules import Change, Deal
from games.engine.chemin.state import there
from games.errors import HouseStopped
from games.labels import announcement
from games.models import LiveRound, LiveTable, Participation, Phase, Table
from games.shared import favourites, malfunction, phases
from games.shared.bets import place_favourite
from games.shared.pages import rendering
from games.shared.pages.lobby_card import READ_CARDS, card_state, render_card
from games.shared.pages.views import read_public
from games.shared.seats import seat_at
from games.solo import change_slip, play_round, solo_seat_at, take_chip
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_seat, a_table
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at, step
from tests.live.betting import balance, chip, held, press, stakes_of
from tests.people import a_member_of_staff, events
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY = 100_000
CHIP = 20_00
HALTED_ALONE = "Play is stopped at the moment. You can remove the bets you have here."
SAID = "All play is stopped at the moment. No bet was placed."


def stop() -> None:
    house_stop.stop(reason="The authority asks for it.", by=a_member_of_staff("supervisor"))


def go_on() -> None:
    house_stop.resume(reason="All is well.", by=a_member_of_staff("supervisor"))


def public(table: LiveTable, language: str = "en") -> str:
    """Return what everyone at the table sees."""
    return rendering.render_public(read_public(table), language)


def card(table: LiveTable) -> str:
    return render_card(card_state(there(fetch_named(READ_CARDS, [[table.pk]]))), "en")


def shut(page: str, prefix: str) -> set[str]:
    """Return the disabled controls whose ids begin with *prefix*."""
    return set(re.findall(rf'id="({prefix}[^"]*)"[^>]* aria-disabled="true"', page))


class TestASoloTable:
    @pytest.fixture
    def table(self) -> Table:
        return a_table()

    @pytest.fixture
    def player(self) -> Player:
        return a_player(real=MONEY, free=MONEY)

    def deal(self, player: Player, table: Table, mode: Mode, how: Deal = Deal.AS_PLACED) -> object:
        seat = solo_seat_at(player=player, table_id=table.pk, mode=mode)
        return play_round(
            player=player,
            table_id=table.pk,
            mode=mode,
            round_id=seat.round_id,
            slip_version=seat.slip_version,
            how=how,
        )

    @pytest.mark.parametrize("mode", Mode)
    def test_gli19_2_4_1_deals_nothing_and_the_bets_stay_where_they_lie(self, table, player, mode):
        before = a_seat(player, table, mode, player=1000)
        stop()
        for how in (Deal.AS_PLACED, Deal.DOUBLED):
            with pytest.raises(HouseStopped):
                self.deal(player, table, mode, how)
        after = solo_seat_at(player=player, table_id=table.pk, mode=mode)
        assert (after.round_id, after.slip, after.slip_version) == (before.round_id, before.slip, before.slip_version)
        assert balance(player, mode) == MONEY
        assert not Participation.objects.exists()
        assert {event["data"]["reason"] for event in events("round.refused")} == {"HouseStopped"}

    def test_takes_no_chip_and_lets_bets_go(self, table, player):
        a_seat(player, table, Mode.REAL, player=1000, tie=1000)
        stop()
        with pytest.raises(HouseStopped):
            a_seat(player, table, Mode.REAL, player=1000)
        with pytest.raises(HouseStopped):
            change_slip(player=player, table_id=table.pk, mode=Mode.REAL, change=Change.DOUBLE)
        left = change_slip(player=player, table_id=table.pk, mode=Mode.REAL, change=Change.UNDO)
        assert left.slip == {"player": 1000}
        assert change_slip(player=player, table_id=table.pk, mode=Mode.REAL, change=Change.CLEAR).slip == {}

    def test_a_chip_comes_off_where_chips_do(self):
        player, table = a_player(real=MONEY), a_golden_table()
        a_purse(player, MONEY, Mode.REAL)
        before = a_seat(player, table, Mode.REAL, banker=1000)
        stop()
        off = take_chip(player=player, table_id=table.pk, mode=Mode.REAL, bet="banker", chip=before.slip["banker"])
        assert off.slip == {}

    def test_a_round_that_was_played_is_found_again(self, table, player):
        played = a_round(player, table, Mode.REAL, player=1000)
        stop()
        again = play_round(player=player, table_id=table.pk, mode=Mode.REAL, round_id=played.round_id, slip_version=1)
        assert (again.round_id, again.repeated) == (played.round_id, True)

    def test_deals_once_the_house_goes_on(self, table, player):
        a_seat(player, table, Mode.REAL, player=1000)
        stop()
        go_on()
        assert self.deal(player, table, Mode.REAL)

    @pytest.mark.sweep
    def test_the_page_says_so_and_takes_no_bets(self, client: Client, table, player):
        a_seat(player, table, Mode.REAL, player=1000)
        client.force_login(player.user)
        stop()
        address = reverse("table", args=[table.slug, Mode.REAL])
        seat = solo_seat_at(player=player, table_id=table.pk, mode=Mode.REAL)
        text = client.get(address).text
        assert f"<p>{HALTED_ALONE}</p>" in text
        assert ">stopped</span>" in text
        assert "is paused" not in text
        sent = {
            "action": "bet:player",
            "chip": 1000,
            "round_id": seat.round_id,
            "slip_version": seat.slip_version,
            "table_version": table.version.number,
            "player_value": "",
        }
        answer = client.post(f"{address}play/", sent, headers={"HX-Request": "true"})
        assert SAID in answer.text


class TestASharedTable:
    @pytest.fixture
    def table(self) -> LiveTable:
        return a_live_table()

    @pytest.fixture
    def player(self, table: LiveTable) -> Player:
        player = a_player("RO", real=MONEY)
        seat_at(player, table)
        return player

    @pytest.mark.parametrize(
        "more",
        sample(
            [
                lambda player, table: chip(player, table, "tie", CHIP),
                lambda player, table: press(player, table, Change.DOUBLE),
                lambda player, table: press(player, table, Change.REPEAT),
                lambda player, table: place_favourite(
                    player=player,
                    live_table_id=table.pk,
                    round_id=round_at(table).pk,
                    favourite_id=favourites.of(player, VARIANTS["no_commission"])[0].pk,
                ),
            ],
            1,
        ),
        ids=["chip", "double", "rebet", "favourite"],
    )
    def test_gli19_2_4_1_takes_nothing_more_and_keeps_the_bets(self, table, player, more: Callable[..., object]):
        bet(player, table, player=CHIP, tie=CHIP)
        favourites.save(player=player, live_table=table, name="Mine")
        advance_to(table, Phase.BETTING)
        chip(player, table, "player", CHIP)
        stop()
        with pytest.raises(HouseStopped):
            more(player, table)
        assert stakes_of(player, table) == {"player": CHIP}
        assert held(player) == CHIP
        assert events("bet.refused")[-1]["data"]["reason"] == "HouseStopped"

    @pytest.mark.sweep
    def test_bets_come_off(self, table, player):
        chip(player, table, "player", CHIP)
        chip(player, table, "tie", CHIP)
        stop()
        press(player, table, Change.UNDO)
        assert (stakes_of(player, table), held(player)) == ({"player": CHIP}, CHIP)
        press(player, table, Change.UNDO)
        assert (stakes_of(player, table), held(player)) == ({}, 0)

    def test_gli19_2_4_1_a_round_with_bets_is_dealt_and_paid_and_no_other_opens(self, table, player):
        chip(player, table, "player", CHIP)
        stop()
        settled = advance_to(table, Phase.SETTLED)
        part = Participation.objects.get(round_id=settled.pk, player=player)
        assert balance(player) == MONEY - part.staked + part.paid
        hurry(table)
        assert phases.due() == []
        assert not phases.advance(table.pk)
        go_on()
        assert phases.advance(table.pk)
        assert round_at(table).phase == Phase.BETTING

    def test_a_round_without_bets_ends_and_no_other_opens(self, table):
        stop()
        assert step(table).phase == Phase.VOID
        hurry(table)
        assert phases.due() == []
        assert not phases.advance(table.pk)
        assert LiveRound.objects.count() == 1
        go_on()
        assert table.pk in phases.due()
        assert phases.advance(table.pk)

    @pytest.mark.sweep
    def test_a_click_between_two_rounds_gets_the_same_answer(self, table, player):
        stop()
        step(table)
        with pytest.raises(HouseStopped):
            chip(player, table, "player", CHIP)

    @pytest.mark.sweep
    def test_while_bets_were_taken_the_words_in_the_middle_say_it_and_nothing_can_be_added(self, client, table, player):
        bet(player, table, player=CHIP)
        advance_to(table, Phase.BETTING)
        chip(player, table, "player", CHIP)
        client.force_login(player.user)
        stop()
        text = client.get(reverse("table", args=[table.table.slug, Mode.REAL])).text
        assert 'data-say="Play is stopped"' in text
        assert "No new bets are accepted. Bets on the table will be played and paid unless you remove them." in text
        for word in ("Place your bets", "pauses", "data-deadline", "data-seconds"):
            assert word not in text, word
        assert len(shut(text, "bet-")) == len(VARIANTS["no_commission"].bets)
        assert shut(text, "act-") == {"act-double", "act-rebet"}

    @pytest.mark.sweep
    def test_a_round_that_is_dealt_says_that_it_is_the_last_until_play_goes_on(self, table, player):
        chip(player, table, "player", CHIP)
        stop()
        advance_to(table, Phase.DEALT)
        assert "Play stops after this round." in public(table)
        advance_to(table, Phase.SETTLED)
        text = public(table)
        coup = there(read_public(table).coup)
        assert 'data-say="Play is stopped"' in text
        assert f'data-say="{announcement(coup)}"' in text

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de"], 1))
    def test_every_language_has_its_words(self, table, player, language):
        chip(player, table, "player", CHIP)
        stop()
        with override(language):
            word = gettext("Play is stopped")
        assert word != "Play is stopped"
        for phase in (Phase.BETTING, Phase.DEALT, Phase.SETTLED):
            if round_at(table).phase != phase:
                advance_to(table, phase)
            text = public(table, language)
            assert word in text or phase == Phase.DEALT  # the sentence may have another word order there
            assert "Play is stopped" not in text

    @pytest.mark.sweep
    def test_the_lobby_says_the_same_word(self, table, player):
        chip(player, table, "player", CHIP)
        stop()
        for phase in (Phase.BETTING, Phase.SETTLED):
            if round_at(table).phase != phase:
                advance_to(table, phase)
            text = card(table)
            assert '<p class="card-live__phase">Play is stopped</p>' in text, phase
            assert ">stopped</p>" in text
            assert "data-deadline" not in text
            assert "paused" not in text

    def test_a_stopped_table_keeps_its_own_words(self, table, player):
        malfunction.report(round_id=round_at(table).pk, cause="A card is bent.", by="staff:7")
        stop()
        assert "The table is stopped" in public(table)
        assert "Play is stopped" not in public(table)

    @pytest.mark.sweep
    def test_everybody_there_sees_that_it_waits(self, client: Client, table, player):
        client.force_login(player.user)
        address = reverse("table", args=[table.table.slug, Mode.REAL])
        stop()
        step(table)
        text = client.get(address).text
        assert 'data-phase="paused"' in text
        assert 'data-say="Play is stopped"' in text
        assert "The next round opens when play resumes." in text
        assert "is paused" not in text
        go_on()
        step(table)
        assert 'data-phase="betting"' in client.get(address).text


class TestAVisitor:
    """The demo game is stopped too, although its chips have no value."""

    @pytest.fixture
    def visitor(self, client: Client) -> Client:
        a_table()
        client.post(reverse("demo_start", args=["baccarat"]), {"adult": "on", "to": "play"})
        return client

    @pytest.mark.sweep
    def test_plays_no_more_than_others(self, visitor):
        address = reverse("demo_table", args=["baccarat"])
        assert "paused" not in visitor.get(address).text
        stop()
        sent = visitor.get(address).context["game"]
        click = {
            "action": "bet:player",
            "chip": 1000,
            "round_id": sent.next_round_id,
            "slip_version": sent.slip_version,
            "table_version": sent.table_version,
        }
        answer = visitor.post(reverse("demo_play", args=["baccarat"]), click, headers={"HX-Request": "true"})
        assert SAID in answer.text
        assert HALTED_ALONE in visitor.get(address).text

    def test_does_not_begin(self, client: Client):
        a_table()
        stop()
        address = reverse("demo_table", args=["baccarat"])
        assert SAID in client.get(address).text
        assert SAID in client.post(reverse("demo_start", args=["baccarat"]), {"adult": "on", "to": "watch"}).text
