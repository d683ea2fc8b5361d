"""Rounds of shared tables on the player's pages: in progress, paid, and voided."""

import csv
import io
import re
from datetime import timedelta
from html import unescape
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from accounts import data_export
from games.betting.rules import Change
from games.engine import card_tree
from games.engine.cards import Card
from games.history import round_of
from games.history.search import Ending, Search, find
from games.history.statement.figures import Period, figures, today_in
from games.history.statement.views import listing
from games.models import (
    LiveRound,
    LiveTable,
    Participation,
    Phase,
    VerificationDue,
)
from games.rounds.verification_queue import is_readable
from games.shared.bets import change_slip
from games.solo.page import participation
from games.verification import verification_task
from players.models import Player
from tests.builders import a_player
from tests.dealt_shoes import ended, seed_of
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.voiding import cancel, void_as_two_agree, void_overdue
from wallet.models import Mode
from wallet.money import format_money

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
STAKE, TIE = 25_000, 5_000  # chips of the table
IN_PLAY = "The seed is published when the shoe has ended."


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def player() -> Player:
    return a_player(real=MONEY, free=MONEY)


def visitor_for(player: Player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    return visitor


def seen(player: Player, address: str, **asked: str) -> str:
    answer = visitor_for(player).get(address, asked)
    assert answer.status_code == 200
    return " ".join(unescape(answer.text).split())


def money(amount: int) -> str:
    return format_money(amount, "SEK", "en").replace("\u00a0", " ")


def bet_on(player: Player, live_table: LiveTable) -> LiveRound:
    """Put two bets of the player on the open round."""
    bet(player, live_table, player=STAKE, tie=TIE)
    return round_at(live_table)


def played(player: Player, live_table: LiveTable) -> LiveRound:
    """Return a paid round with bets of the player."""
    bet_on(player, live_table)
    return advance_to(live_table, Phase.SETTLED)


def voided(player: Player, live_table: LiveTable) -> LiveRound:
    """Return a round that was voided while betting was open."""
    going = bet_on(player, live_table)
    return cancel(round_id=going.pk, by="staff:1")


class TestARoundInProgress:
    def test_gli19_4_16_is_in_game_logs_with_its_code_and_what_is_held(self, player, live_table):
        going = bet_on(player, live_table)
        page = seen(player, "/en/history/")
        for said in (going.code, "In progress", "Set aside", money(STAKE), money(STAKE + TIE), live_table.table.name):
            assert said in page
        assert "You have not played any real-money rounds yet" not in page

    @pytest.mark.sweep
    def test_gli19_2_8_2_has_its_status_bets_rules_and_shoe_on_a_page_of_its_own(self, player, live_table):
        going = bet_on(player, live_table)
        page = seen(player, f"/en/history/{going.pk}/")
        for said in (
            going.code,
            "In progress",
            money(TIE),
            going.version.rules_version,
            going.shoe.commitment,
            IN_PLAY,
        ):
            assert said in page
        assert "Bets are open." in page
        step(live_table)
        assert "Bets are closed." in seen(player, f"/en/history/{going.pk}/")

    def test_tells_no_card_before_it_is_paid(self, player, live_table):
        going = bet_on(player, live_table)
        dealt = advance_to(live_table, Phase.DEALT)
        assert dealt.cards
        for address in ("/en/history/", f"/en/history/{going.pk}/", f"/en/fair/shoe/{going.shoe_id}/"):
            page = seen(player, address)
            assert going.code in page
            assert dealt.cards not in page
            assert "small-hand" not in page

    @pytest.mark.sweep
    def test_is_nobody_elses(self, player, live_table):
        going, other = bet_on(player, live_table), a_player(real=MONEY)
        assert visitor_for(other).get(f"/en/history/{going.pk}/").status_code == 404
        assert going.code not in seen(other, "/en/history/")

    def test_does_not_belong_to_a_player_who_removed_all_bets(self, player, live_table):
        going = bet_on(player, live_table)
        for _ in range(2):
            change_slip(player=player, live_table_id=live_table.pk, round_id=going.pk, change=Change.UNDO)
        assert going.code not in seen(player, "/en/history/")

    @pytest.mark.sweep
    def test_is_not_among_rounds_that_are_searched_for(self, player, live_table):
        going = bet_on(player, live_table)
        assert going.code not in seen(player, "/en/history/", ending="won")

    @pytest.mark.sweep
    def test_for_free_money_is_reported_on_its_page_and_not_in_game_logs(self, player):
        table = a_live_table("pairs", Mode.FREE)
        bet(player, table, player=5_000)
        going = round_at(table)
        assert going.code not in seen(player, "/en/history/")
        assert going.code in seen(player, f"/en/history/{going.pk}/")

    @pytest.mark.sweep
    def test_gli19_4_16_the_cashier_shows_what_is_in_play(self, player, live_table):
        assert "In play:" not in seen(player, "/en/cashier/")
        bet_on(player, live_table)
        assert f"In play: {money(STAKE + TIE)}" in seen(player, "/en/cashier/").replace("\u00a0", " ")
        advance_to(live_table, Phase.SETTLED)
        assert "In play:" not in seen(player, "/en/cashier/")

    @pytest.mark.sweep
    def test_is_in_the_statement_under_its_game_once_it_is_paid(self, player, live_table):
        """Until then its stakes are held, and no money has moved."""
        going = bet_on(player, live_table)
        step(live_table)
        assert not figures(player, Mode.REAL, today(player)).games
        advance_to(live_table, Phase.SETTLED)
        (game,) = figures(player, Mode.REAL, today(player)).games
        assert (game.variant, game.rounds, game.staked) == ("no_commission", 1, STAKE + TIE)
        assert listing(player, Mode.REAL, today(player)).movements[0].code == going.code


def today(player: Player) -> Period:
    """Return yesterday to tomorrow, because the day may end while a test runs."""
    zone = ZoneInfo(player.jurisdiction.time_zone)
    now = today_in(zone)
    return Period(now - timedelta(days=1), now + timedelta(days=1), zone)


class TestAPaidRound:
    def test_gli19_2_8_2_is_kept_and_shown_with_all_that_is_asked_for(self, player, live_table):
        done = played(player, live_table)
        part = Participation.objects.get(round_id=done.pk)
        page = seen(player, f"/en/history/{done.pk}/").replace("\u00a0", " ")
        for amount in (part.staked, part.paid, part.balance_before, part.balance_after):
            assert money(amount) in page
        for said in ("Replay", done.code, done.version.rules_version, done.shoe.commitment, "Round in this shoe"):
            assert said in page
        assert page.count('class="card ') == len(done.cards.split())

    def test_gli19_4_14_tells_no_seed_while_its_shoe_is_in_play_and_all_when_it_has_ended(self, player, live_table):
        done = played(player, live_table)
        seed = seed_of(done.shoe).hex()
        page = seen(player, f"/en/history/{done.pk}/")
        assert IN_PLAY in page
        assert seed not in page
        ended(done.shoe)
        page = seen(player, f"/en/history/{done.pk}/")
        assert IN_PLAY not in page
        assert seed in page
        assert f"decks=8&first={(done.first_card or 0) + 1}#check-result" in page
        assert f"round={done.shoe_id}&table={live_table.table_id}&rules={done.shoe.rules_digest}&" in page

    def test_each_of_its_cards_leads_to_the_root_of_its_shoe_in_play(self, player, live_table):
        done = played(player, live_table)
        page = seen(player, f"/en/history/{done.pk}/")
        assert f'data-root="{done.shoe.root}" data-seal="{done.shoe.commitment}"' in page
        assert f'data-shown="{done.cards}"' in page
        said = re.findall(
            r'data-card="(\w\w)" data-position="(\d+)".*?data-salt>(\w+)<.*?data-path>([\w ]+)<', page, re.DOTALL
        )
        assert [card for card, *_ in said] == done.cards.split()
        for place, (card, at, salt, path) in enumerate(said, start=done.first_card or 0):
            made = card_tree.leaf(place, Card.parse(card), bytes.fromhex(salt))
            way = [bytes.fromhex(each) for each in path.split()]
            root = card_tree.climb(int(at), 8 * 52, made, way)
            assert root is not None
            assert root.hex() == done.shoe.root

    @pytest.mark.sweep
    def test_is_found_by_how_it_ended_and_at_which_table(self, player, live_table):
        done = played(player, live_table)
        result = Participation.objects.get(round_id=done.pk).result
        for ending, wanted in ((Ending.WON, 1), (Ending.LOST, -1), (Ending.EVEN, 0)):
            found = find(player, Search(ending=ending, table=live_table.table.slug), limit=9)
            assert [part.round_id for part in found] == ([done.pk] if result == wanted else [])

    @pytest.mark.sweep
    def test_is_a_line_of_the_file(self, player, live_table):
        done = played(player, live_table)
        (row,) = rows(player)
        assert (row["Round code"], row["Staked"]) == (done.code, "300.00")
        assert sorted(f"{row['Player’s cards']} {row['Banker’s cards']}".split()) == sorted(done.cards.split())

    @pytest.mark.sweep
    def test_is_summed_in_the_statement(self, player, live_table):
        played(player, live_table)
        part = Participation.objects.get()
        found = figures(player, Mode.REAL, today(player))
        (game,) = found.games
        assert (game.rounds, game.staked, game.paid) == (1, part.staked, part.paid)
        assert found.closing.total == part.balance_after
        assert [str(each.name) for each in found.sums].count("Stake") == 1

    @pytest.mark.sweep
    def test_is_dealt_again_from_its_shoe_by_the_house(self, player, live_table):
        done = played(player, live_table)
        assert VerificationDue.objects.filter(pk=done.pk).exists()
        assert not verification_task.verify_finished_rounds().suspicious
        assert not VerificationDue.objects.exists()

    @pytest.mark.sweep
    def test_is_in_the_personal_data_with_the_seat(self, player, live_table):
        played(player, live_table)
        parts = {part.name: part for part in data_export.PARTS}
        assert [row["stakes"] for row in parts["seats at live tables"].rows(player)]
        assert len(list(parts["rounds"].rows(player))) == 1
        assert len(list(parts["bets"].rows(player))) == 2

    @pytest.mark.sweep
    def test_costs_no_query_for_each_round_of_a_page(self, player, live_table, django_assert_max_num_queries):
        for _ in range(3):
            played(player, live_table)
            step(live_table)
        visitor = visitor_for(player)
        visitor.get("/en/history/")
        with django_assert_max_num_queries(25):
            assert visitor.get("/en/history/").text.count("round-line__code") == 3


def rows(player: Player) -> list[dict[str, str]]:
    answer = visitor_for(player).get("/en/history/rounds.csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer).decode().lstrip("\ufeff"))))


class TestAnVoidedRound:
    @pytest.mark.sweep
    def test_gli19_4_16_has_a_cross_in_game_logs_and_every_stake_returned(self, player, live_table):
        gone = voided(player, live_table)
        page = seen(player, "/en/history/")
        for said in (gone.code, "✕", "before any cards were dealt", "returned"):
            assert said in page
        assert page.count("small-hand") == 0

    @pytest.mark.sweep
    def test_that_never_had_cards_is_no_fault(self, player, live_table):
        gone = voided(player, live_table)
        part = participation(gone.pk, player.pk)
        assert part is not None
        assert (part.round.cards, part.round.outcome) == ("", "")
        assert is_readable(part)
        assert not verification_task.verify_finished_rounds().suspicious

    @pytest.mark.sweep
    def test_gli19_2_8_2_has_a_page_with_its_status_and_bets(self, player, live_table):
        gone = voided(player, live_table)
        page = seen(player, f"/en/history/{gone.pk}/")
        for said in (gone.code, "✕", "before any cards were dealt", money(STAKE), money(TIE)):
            assert said in page
        assert 'id="again"' not in page

    def test_gives_back_what_was_staked_as_the_lines_say(self, player, live_table):
        bet_on(player, live_table)
        closed = step(live_table)
        void_overdue(closed.pk)
        line = round_of(player, closed.pk, "en")
        assert line is not None
        assert line.staked == line.paid == STAKE + TIE
        assert line.balance_before == line.balance_after == MONEY
        (row,) = rows(player)
        assert (row["Result"], row["Staked"], row["Paid out"]) == ("void", "300.00", "300.00")

    @pytest.mark.sweep
    def test_is_found_among_voided_rounds_and_no_others(self, player, live_table):
        gone = voided(player, live_table)
        assert [part.round_id for part in find(player, Search(ending=Ending.VOID), limit=9)] == [gone.pk]
        for ending in (Ending.WON, Ending.LOST, Ending.EVEN):
            assert not find(player, Search(ending=ending), limit=9)

    @pytest.mark.sweep
    def test_after_its_deal_shows_its_cards_on_record(self, player, live_table):
        done = played(player, live_table)
        void_as_two_agree(done.pk)
        page = seen(player, f"/en/history/{done.pk}/")
        assert "✕" in page
        assert "any payout was reversed" in page
        assert 'id="again"' in page
        assert round_of(player, done.pk, "en").view is not None  # type: ignore[union-attr]
