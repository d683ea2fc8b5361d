"""Coups in Game logs, files, statements and on pages: what players see during and after a coup."""

import csv
import io
from html import unescape
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation
from django.utils.timezone import override

from games import history
from games.engine.chemin import Call, Phase
from games.history import csv_export
from games.history.search import Ending, Search, every, find
from games.history.statement import views
from games.history.statement.figures import Choice, chosen, figures, today_in
from games.history.statement.views import listing
from games.models import CheminCoup, LiveRound, Participation, Round
from players.models import Player
from tests.chemin.at_table import a_bank, a_chemin_table, a_staked_coup, answer, asked, seated_players, step_to
from tests.chemin.evenings import play_evening
from tests.chemin.hands import next_seed, shoe_where, shown_at_once, third_card_refused
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample, sweep_languages
from tests.people import a_visitor
from tests.voiding import void_as_two_agree
from wallet.models import Mode

LANGUAGES = ["sv", "da", "ro", "de", "en"]
PLAYED = (Phase.CHOICE, Phase.OFFER, Phase.FREE, Phase.CALLS, Phase.SHOE)

pytestmark = pytest.mark.django_db


@pytest.fixture
def table():
    return a_chemin_table()


@pytest.fixture
def coup(table, monkeypatch):
    """Banker, punter and round of a coup that the punters win with a natural; the third one passes."""
    return a_coup_that(table, monkeypatch, shown_at_once)


def a_coup_that(table, monkeypatch, wanted):
    """Play a coup of the wanted kind; return banker, punter and round."""
    seed, _ = shoe_where(wanted)
    next_seed(monkeypatch, seed)
    seated_players(table)
    banker, punter = a_staked_coup(table)
    answer(banker, table, "deal_cards")
    step_to(table, *PLAYED)
    return banker, punter, Round.objects.get()


def even_sixes(coup):
    """Both sides stand, and the coup is a draw."""
    return coup.totals == (6, 6)


def whose_turn(table) -> Player:
    player = asked(table)
    assert player
    return player


def line_of(player, language="en"):
    (line,) = history.history(player, before=None, language=language).rounds
    return line


def visitor_of(player) -> Client:
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


class TestGameLogs:
    @pytest.mark.sweep
    def test_tell_both_hands_who_held_them_and_what_lay_against_the_bank(self, coup):
        _, punter, played = coup
        row = CheminCoup.objects.get()
        line = line_of(punter)
        assert line.status == "complete"
        assert [card.code for hand in (line.view.player, line.view.banker) for card in hand.cards][:2] == [
            played.cards.split()[0],
            played.cards.split()[2],
        ]
        assert (line.view.player.total, line.view.banker.total) == (row.punter_total, row.banker_total)
        assert (line.view.player.name, line.view.banker.name) == ("Punters", "The bank")
        assert (line.coup.bank, line.coup.at_risk, line.coup.banker, line.coup.punter) == (
            10_000,
            4_000,
            "Seat 1",
            "Seat 2 (you)",
        )
        assert [(each.seat, each.stake) for each in line.coup.stakes] == [("Seat 2 (you)", 4_000)]

    @pytest.mark.sweep
    def test_tell_every_card_in_dealing_order(self, coup):
        _, punter, played = coup
        line = line_of(punter)
        cards = sorted((c for hand in (line.view.player, line.view.banker) for c in hand.cards), key=lambda c: c.order)
        assert [card.code for card in cards] == played.cards.split()
        assert [card.third for card in cards] == [False] * 4 + [True] * (len(cards) - 4)

    def test_tell_each_their_own_part(self, coup):
        banker, punter, _ = coup
        assert [(wager.name, wager.stake) for wager in line_of(punter).wagers] == [("Stake", 4_000)]
        assert [(wager.name, wager.stake) for wager in line_of(banker).wagers] == [("Bank", 4_000)]
        assert line_of(banker).coup.banker == "Seat 1 (you)"

    @pytest.mark.sweep
    def test_gli19_4_16_show_what_the_croupier_decided_for_a_player(self, table):
        seated_players(table)
        _, punter = a_staked_coup(table)
        step_to(table, *PLAYED)
        decided = {each.message: each.by_house for each in line_of(punter).coup.decisions}
        assert decided["Seat 1 draws the cards."]
        assert not decided["Seat 2 (you) stakes SEK\u00a040.00."]
        page = unescape(visitor_of(punter).get("/en/history/").text)
        assert page.count("Decided by the croupier") == sum(decided.values())

    @pytest.mark.sweep
    def test_say_what_was_called(self, table):
        seated_players(table)
        a_bank(table)
        caller = whose_turn(table)
        answer(caller, table, "make_call", None, Call.BANCO_SOLO)
        step_to(table, *PLAYED)
        assert line_of(caller).coup.call == "Banco solo"

    def test_name_only_seats(self, coup):
        banker, punter, played = coup
        page = unescape(visitor_of(punter).get("/en/history/").text)
        assert played.code in page
        assert "Seat 1" in page
        for shown in (banker.user.email, f"player:{banker.pk}"):
            assert shown not in page

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
    def test_and_its_own_page_speak_every_language(self, coup, language):
        banker, _, played = coup
        visitor = visitor_of(banker)
        for address in (f"/{language}/history/", f"/{language}/history/{played.pk}/"):
            page = unescape(visitor.get(address).text)
            assert played.code in page
            assert "(you)" not in page or language == "en"

    @pytest.mark.sweep
    def test_cost_as_many_queries_for_many_coups_as_for_one(self, table):
        player = seated_players(table)[0]
        counts = set()
        for coups in (2, 6):
            play_evening(table, coups, seed=coups)
            history.history(player, before=None, language="en")  # versions of tables stay in memory
            with CaptureQueriesContext(connection) as queries:
                history.history(player, before=None, language="en")
            counts.add(len(queries))
        assert len(counts) == 1

    @pytest.mark.sweep
    def test_find_coups_by_table_and_result(self, coup):
        banker, punter, _ = coup
        for player in (banker, punter):
            part = Participation.objects.get(player=player)
            ending = {1: Ending.WON, -1: Ending.LOST, 0: Ending.EVEN}[
                (part.paid > part.staked) - (part.paid < part.staked)
            ]
            assert find(player, Search(table="chemin", ending=ending), limit=5) == [part]

    @pytest.mark.sweep
    def test_say_that_a_coup_is_examined_which_its_record_does_not_make(self, coup, monkeypatch):
        _, punter, _ = coup
        monkeypatch.setattr("games.history.is_readable", lambda part: False)
        line = line_of(punter)
        assert (line.status, line.view, line.coup, line.wagers) == ("examined", None, None, ())


class TestVoided:
    @pytest.mark.sweep
    def test_say_so_and_show_the_cards_on_record(self, coup):
        banker, punter, played = coup
        void_as_two_agree(played.pk)
        for player, name in ((banker, "Bank"), (punter, "Stake")):
            line = line_of(player)
            assert (line.status, line.is_dealt) == ("void", True)
            assert line.view is not None
            assert [wager.name for wager in line.wagers] == [name]
            assert line.coup.bank == 10_000
        page = visitor_of(punter).get("/en/history/").text
        assert "✕" in page


class TestInProgress:
    def test_shows_stake_and_bank_and_no_card(self, table):
        players = seated_players(table)
        banker, punter = a_staked_coup(table)
        going = LiveRound.objects.get()
        for player, name, amount in ((banker, "Bank", 10_000), (punter, "Stake", 4_000)):
            (line,) = history.playing(player, "en")
            assert (line.id, line.is_coup, line.staked) == (going.pk, True, amount)
            assert [wager.name for wager in line.wagers] == [name]
            for address in ("/en/history/", f"/en/history/{going.pk}/"):
                page = visitor_of(player).get(address).text
                assert "The coup is being played." in page
                assert "mini--" not in page
        assert history.playing(players[2], "en") == ()
        assert visitor_of(players[2]).get(f"/en/history/{going.pk}/").status_code == 404

    @pytest.mark.sweep
    def test_a_bank_shows_as_soon_as_the_coup_is_opened(self, table):
        seated_players(table)
        banker = a_bank(table)
        (line,) = history.playing(banker, "en")
        assert line.staked == 10_000

    @pytest.mark.sweep
    def test_ends_with_the_coup(self, coup):
        banker, punter, _ = coup
        update_as_owner(LiveRound.objects.filter(phase__in=("betting", "closed", "dealt")), phase="void")
        assert history.playing(banker, "en") == history.playing(punter, "en") == ()

    @pytest.mark.sweep
    def test_a_stake_that_is_partly_relieved_shows_what_is_left(self, table):
        seated_players(table)
        a_bank(table)
        caller = whose_turn(table)
        answer(caller, table, "make_call", None, Call.BANCO)
        answer(whose_turn(table), table, "lay_stake", 3_000)
        (line,) = history.playing(caller, "en")
        assert line.staked == 7_000


class TestTheFile:
    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_has_hands_result_and_the_whole_coup(self, coup, language):
        _, punter, played = coup
        with translation.override(language), override(ZoneInfo("Europe/Stockholm")):
            lines = csv_export.lines(every(punter, Search()), language)
        text = "".join(lines).lstrip("\ufeff")  # read after the language has changed
        heads, row = csv.reader(io.StringIO(text), delimiter="," if language == "en" else ";")
        assert len(heads) == len(row)
        cards = played.cards.split()
        assert row[3].split()[:2] == [cards[0], cards[2]]
        assert row[4].split()[:2] == [cards[1], cards[3]]
        if language == "en":
            assert row[6] == "Stake 40.00"
            assert (
                "Bank before the coup: 100.00; Held the bank: Seat 1; Held the punters’ cards: Seat 2 (you)" in row[-1]
            )
            assert "Seat 2 (you) stakes" in row[-1]


class TestTheStatement:
    def this_month(self, player):
        zone = ZoneInfo(player.jurisdiction.time_zone)
        return chosen(Choice.MONTH, zone, today_in(zone))

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "wanted", sample([shown_at_once, third_card_refused, even_sixes], 1), ids=["lost", "won", "draw"]
    )
    def test_tells_what_was_staked_and_paid_by_banker_and_punter_alike(self, table, monkeypatch, wanted):
        for player in a_coup_that(table, monkeypatch, wanted)[:2]:
            part = Participation.objects.get(player=player)
            found = figures(player, Mode.REAL, self.this_month(player))
            (game,) = found.games
            assert (game.variant, game.rounds, game.staked, game.paid) == ("chemin_de_fer", 1, part.staked, part.paid)
            assert found.closing.total == sum(player.accounts.filter(mode=Mode.REAL).values_list("balance", flat=True))

    @pytest.mark.sweep
    def test_shows_the_money_of_a_bank(self, table):
        seated_players(table)
        banker = a_bank(table)
        found = figures(banker, Mode.REAL, self.this_month(banker))
        assert (found.closing.bank, found.closing.pending) == (10_000, 0)
        assert found.games == ()
        (put_up,) = [line for line in found.sums if line.within]
        assert (str(put_up.name), put_up.amount, put_up.within) == ("Bank put up", 0, 10_000)
        page = unescape(visitor_of(banker).get("/en/cashier/statement/").text)
        assert "of which in a Chemin de Fer bank" in page

    @pytest.mark.sweep
    def test_lists_every_movement_by_its_name(self, coup):
        banker, punter, played = coup
        names = [str(move.name) for move in listing(banker, Mode.REAL, self.this_month(banker)).movements]
        assert names[:3] == ["Bank returned", "Coup as banker", "Bank put up"]
        moves = listing(punter, Mode.REAL, self.this_month(punter)).movements
        assert [str(move.name) for move in moves if move.code == played.code][-1] == "Stake"

    @pytest.mark.sweep
    def test_names_the_game_of_a_bank_and_links_to_no_round(self, coup):
        banker, _, _ = coup
        moves = listing(banker, Mode.REAL, self.this_month(banker)).movements
        (put_up,) = [move for move in moves if move.kind == "bank"]
        assert (put_up.variant, put_up.code) == ("chemin_de_fer", None)
        page = visitor_of(banker).get("/en/cashier/").text
        assert str(put_up.round_id) not in page

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
    def test_is_a_file_too(self, coup, language):
        banker, _, played = coup
        with translation.override(language):
            text = "".join(views.lines(banker, Mode.REAL, self.this_month(banker), language))
        assert played.code in text
