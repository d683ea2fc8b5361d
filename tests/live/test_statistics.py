"""The scoreboard of a shared table and a player's own statistics: what they count, and for which readers."""

import re
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from audit.raw_rows import Value
from games.betting.error_messages import voided
from games.engine.coup import Outcome
from games.models import LiveTable, Participation, Phase, VoidReason
from games.shared.pages import rendering
from games.shared.pages.scoreboard import beads_of, results_view
from games.shared.pages.statistics import BEGINS, Since, count
from games.shared.pages.views import read_own, read_public
from games.shared.state import READ_PUBLIC, Counts
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.live.so_far import a_played_table, coups, settle_before
from tests.voiding import cancel, void_as_two_agree, void_overdue
from wallet.models import Mode

pytestmark = pytest.mark.django_db

LANGUAGES = [code for code, _name in settings.LANGUAGES]
MONEY = 1_000_000
LIGHT = 12_000  # bytes of an uncompressed scoreboard, which goes to everyone at the table
# A Player pair with a Player win, a Banker win without a pair, a tie with a Banker pair.
PLAYER, BANKER, TIE = "4H 2C 4D 3S", "AH 3C 2D 2S TH", "8H 4C TD 4S"


def board(live_table: LiveTable, language: str = "en") -> str:
    return rendering.render_board(read_public(live_table), language)


def texts(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def own(live_table: LiveTable, player: Player, language: str = "en") -> str:
    return rendering.render_own(read_public(live_table), read_own(live_table, player.pk), language)


class TestTheBoard:
    def test_counts_what_the_shoe_has_brought_with_shares(self):
        live_table = a_live_table()
        settle_before(live_table, [PLAYER, PLAYER, BANKER, TIE])
        view = results_view(read_public(live_table), "en")
        assert [(each.code, each.count, each.share) for each in (*view.outcomes, *view.pairs)] == [
            ("player", 2, "50%"),
            ("banker", 1, "25%"),
            ("tie", 1, "25%"),
            ("player_pair", 2, "50%"),
            ("banker_pair", 1, "25%"),
        ]

    def test_names_a_good_road_and_what_the_next_win_would_add(self):
        live_table = a_live_table()
        settle_before(live_table, [PLAYER, BANKER, PLAYER, TIE, BANKER])
        said = texts(board(live_table))
        assert "Good road: Ping-pong" in said
        assert "Big eye boy , if Player wins: red P , if Banker wins: blue B" in said
        assert "Cockroach pig , if Player wins: no mark P – , if Banker wins: no mark B –" in texts(
            board(a_live_table(slug="fresh"))
        )

    def test_has_a_round_only_once_it_is_settled(self):
        live_table = a_played_table(3)
        bet(a_player(real=MONEY), live_table, tie=5_000)
        before = read_public(live_table)
        shown = rendering.render_board(before, "en")
        for phase in (Phase.CLOSED, Phase.DEALT):
            advance_to(live_table, phase)
            state = read_public(live_table)
            assert rendering.board_key(state) == rendering.board_key(before)
            assert rendering.render_board(state, "en") == shown
            assert state.round
            assert state.round.counts is None
        assert state.coup  # its cards are drawn, and nothing shows them
        advance_to(live_table, Phase.SETTLED)
        state = read_public(live_table)
        assert rendering.board_key(state) != rendering.board_key(before)
        assert len(beads_of(state.results)) == 4

    def test_leaves_out_a_round_that_was_voided(self):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, tie=5_000)
        advance_to(live_table, Phase.SETTLED)
        assert len(beads_of(read_public(live_table).results)) == 1
        void_as_two_agree(round_at(live_table).pk)
        state = read_public(live_table)
        assert beads_of(state.results) == ()
        assert state.round
        assert state.round.counts is None
        assert 'data-phase="void"' in rendering.render_public(state, "en")

    @pytest.mark.sweep
    def test_is_the_shoes_alone(self):
        live_table, other = a_live_table(), a_live_table(slug="other")
        settle_before(other, [PLAYER])
        assert beads_of(read_public(live_table).results) == ()

    @pytest.mark.sweep
    def test_of_a_shoe_without_results_is_empty_boards_and_a_sentence(self):
        live_table = a_live_table()
        for language in LANGUAGES:
            html = board(live_table, language)
            assert html.count('<svg class="road ') == 5
            assert 'class="board__empty"' in html
            assert "chart__pie" not in html

    @pytest.mark.sweep
    def test_of_a_whole_shoe_is_light(self):
        live_table = a_live_table()
        settle_before(live_table, coups(80))
        for language in LANGUAGES:
            html = board(live_table, language)
            assert html.count('<svg class="road ') - html.count("road__sign") == 5
            assert 4_000 < len(html.encode()) < LIGHT

    def test_repeats_no_id_of_its_own_and_carries_nothing_of_a_reader(self):
        live_table = a_live_table()
        settle_before(live_table, coups(20))
        html = board(live_table)
        assert re.findall(r'\bid="([^"]*)"', html) == ["live-board"]
        assert not re.search(r"csrf|nonce|style=|data-of|SEK", html)

    def test_tells_neither_what_is_left_in_the_shoe_nor_what_may_come(self):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, tie=5_000)
        advance_to(live_table, Phase.SETTLED)
        shoe = round_at(live_table).shoe
        said = set(re.findall(r"\d+", texts(board(live_table))))
        assert not {str(shoe.gone), str(416 - shoe.gone), str(shoe.cut)} & said

    @pytest.mark.sweep
    def test_a_round_that_is_no_coup_is_passed_over(self):
        assert [bead.outcome for bead in beads_of(f"{PLAYER},9H 9D,,{TIE}")] == [Outcome.PLAYER, Outcome.TIE]

    @pytest.mark.sweep
    def test_a_game_without_bets_on_pairs_counts_none(self):
        state = replace(read_public(a_live_table()), variant=VARIANTS["baccarat"])
        assert results_view(state, "en").pairs == ()


class TestTheSummary:
    def counted(self, *counts: int) -> str:
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, tie=5_000)
        advance_to(live_table, Phase.SETTLED)
        state = read_public(live_table)
        assert state.round
        return texts(rendering.render_public(replace(state, round=replace(state.round, counts=Counts(*counts))), "en"))

    @pytest.mark.sweep
    def test_tells_everybody_how_many_won_and_lost(self):
        assert "7 people: 3 won, 1 broke even, 3 lost" in self.counted(3, 1, 3)

    @pytest.mark.parametrize("counts", [(1, 0, 0), (1, 0, 1)])
    def test_tells_nothing_where_each_would_read_what_another_did(self, counts):
        assert not re.search(r"\d (person|people)\b|\b(won|lost|broke even)\b", self.counted(*counts))

    @pytest.mark.sweep
    def test_counts_over_all_currencies(self):
        live_table = a_live_table()
        swede, dane = a_player(real=MONEY), a_player("DK", real=MONEY)
        bet(swede, live_table, player=25_000, banker=25_000)
        bet(dane, live_table, tie=25_000)
        advance_to(live_table, Phase.SETTLED)
        state = read_public(live_table)
        assert state.round
        assert state.round.counts
        results = list(Participation.objects.values_list("result", flat=True))
        assert state.round.counts == Counts(results.count(1), results.count(0), results.count(-1))
        assert state.round.counts.players == 2

    @pytest.mark.sweep
    def test_of_the_readers_own_is_large_until_the_next_round_then_a_line_and_then_gone(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, player=25_000, banker=25_000, tie=5_000)  # wins something and loses something
        advance_to(live_table, Phase.SETTLED)
        word = {1: "won", 0: "even", -1: "lost"}[Participation.objects.get().result]
        said = {}
        for language in LANGUAGES:
            html = own(live_table, player, language)
            assert f"live-mine__sum--{word}" in html
            [said[language]] = re.findall(r'data-say="([^"]+)"', html)
        advance_to(live_table, Phase.BETTING)
        for language in LANGUAGES:
            html = own(live_table, player, language)
            assert "live-mine__sum" not in html
            assert re.findall(r'data-say="([^"]+)"', html) == [said[language]]  # read out once
        bet(a_player(real=MONEY), live_table, tie=5_000)
        advance_to(live_table, Phase.BETTING)
        assert "data-say" not in own(live_table, player)

    @pytest.mark.sweep
    def test_says_so_where_the_round_was_voided(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, player=25_000)
        cancel(round_id=round_at(live_table).pk, by="staff:test")
        html = own(live_table, player)
        assert "live-mine__sum--voided" in html
        assert "Your stakes were returned" in html

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("phase", "reason", "said"),
        sample(
            [
                (Phase.CLOSED, VoidReason.OVERDUE, "This round was voided before any cards were dealt"),
                (Phase.SETTLED, VoidReason.DECIDED, "The shift supervisor voided this round"),
            ],
            1,
        ),
    )
    def test_says_of_one_that_was_dealt_that_people_voided_it(self, phase, reason, said):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, player=25_000)
        round_id = advance_to(live_table, phase).pk
        void_overdue(round_id) if reason is VoidReason.OVERDUE else void_as_two_agree(round_id)
        stopped = replace(read_public(live_table), is_stopped=True)
        assert said in rendering.render_public(stopped, "en")
        visitor = Client()
        visitor.force_login(player.user)
        assert said in visitor.get(f"/en/history/{round_id}/").text


@pytest.mark.sweep
@pytest.mark.parametrize("reason", VoidReason)
def test_a_notice_of_a_voided_round_blames_no_machine_for_what_people_did(reason):
    notice = voided([(uuid4(), "7Q4K-0193-BD2M", reason.value)])
    assert notice
    assert ("malfunction" in notice.text) is (reason in (VoidReason.NOT_REPRODUCED, VoidReason.OVERDUE))


class TestOnesOwnBets:
    def played(self, player: Player, live_table: LiveTable, /, **stakes: int) -> None:
        bet(player, live_table, **stakes)
        advance_to(live_table, Phase.SETTLED)

    def test_are_counted_bet_by_bet(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        for _ in range(3):
            self.played(player, live_table, player=25_000, tie=5_000)
            advance_to(live_table, Phase.BETTING)
        for bet_code, counted in count(player, live_table, Since.SHOE).items():
            lines = [
                (wager.stake, wager.payout, wager.result)
                for part in Participation.objects.all()
                for wager in part.wagers.filter(bet=bet_code)
            ]
            results = [result for _stake, _payout, result in lines]
            assert counted[:4] == (3, results.count("win"), results.count("push"), results.count("lose"))
            assert counted[4:] == (sum(line[0] for line in lines), sum(line[1] for line in lines))

    def test_are_the_players_own_at_this_table_and_for_this_money(self):
        live_table, player = a_live_table(), a_player(real=MONEY, free=MONEY)
        other = a_live_table(slug="other")
        self.played(a_player(real=MONEY), live_table, player=25_000)
        self.played(player, other, banker=25_000)
        assert count(player, live_table, Since.MONTH) == {}
        assert count(player, LiveTable.objects.get(table=other.table, mode=Mode.FREE), Since.MONTH) == {}
        assert set(count(player, other, Since.MONTH)) == {"banker"}

    @pytest.mark.sweep
    def test_are_counted_since_the_shoe_began_or_longer(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        self.played(player, live_table, player=25_000)
        advance_to(live_table, Phase.BETTING)
        self.played(player, live_table, banker=25_000)
        void_as_two_agree(round_at(live_table).pk)  # retires the shoe
        assert set(count(player, live_table, Since.SHOE)) == {"player"}
        advance_to(live_table, Phase.BETTING)
        assert count(player, live_table, Since.SHOE) == {}
        assert set(count(player, live_table, Since.TODAY)) == {"player"}

    @pytest.mark.sweep
    def test_a_day_begins_where_the_player_lives(self):
        with connection.cursor() as cursor:
            values: dict[str, Value] = {"zone": "Europe/Bucharest", "live": 0}
            cursor.execute(f"SELECT clock_timestamp(), {BEGINS[Since.TODAY]}, {BEGINS[Since.MONTH]}", values)
            now, today, month = cursor.fetchone()
        there = now.astimezone(ZoneInfo("Europe/Bucharest"))
        assert today == there.replace(hour=0, minute=0, second=0, microsecond=0)
        assert timedelta(days=30) - timedelta(minutes=1) < now - month <= timedelta(days=30)

    @pytest.mark.sweep
    def test_leave_out_what_was_voided(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        self.played(player, live_table, player=25_000)
        void_as_two_agree(round_at(live_table).pk)
        assert count(player, live_table, Since.MONTH) == {}
        advance_to(live_table, Phase.BETTING)
        bet(player, live_table, banker=25_000)
        cancel(round_id=round_at(live_table).pk, by="staff:test")
        assert count(player, live_table, Since.MONTH) == {}

    @pytest.mark.sweep
    def test_have_a_page_and_a_panel_of_the_table(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        visitor = Client()
        visitor.force_login(player.user)
        address = "/en/table/live/real/statistics/"
        assert "None of your bets in this shoe has been settled yet." in visitor.get(address).text
        self.played(player, live_table, player=25_000, player_pair=5_000)
        page = visitor.get(address, {"since": "month"}).text
        part = visitor.get(address, {"since": "nonsense"}, headers={"HX-Request": "true"}).text
        assert "<html" in page
        assert "<html" not in part
        assert part.count('scope="row"') == page.count('scope="row"') == 2
        assert 'value="shoe"' in part
        assert 'value="month"' in page


@pytest.mark.sweep
def test_what_is_asked_for_a_table_is_one_statement(django_assert_num_queries):
    live_table = a_live_table()
    settle_before(live_table, coups(80))
    with django_assert_num_queries(1):
        state = read_public(live_table)
    assert len(beads_of(state.results)) == 80
    assert READ_PUBLIC.count(";") == 0


@pytest.mark.sweep
def test_the_page_of_a_table_brings_the_board_with_it():
    live_table = a_live_table()
    settle_before(live_table, [PLAYER, TIE])
    visitor = Client()
    visitor.force_login(a_player(real=MONEY).user)
    page = visitor.get("/sv/table/live/real/").text
    assert rendering.render_board(read_public(live_table), "sv") in page
    assert page.count('id="live-board"') == 1
