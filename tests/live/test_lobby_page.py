"""The lobby page: tables shown, order, audience, automatic updates, and favourites."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from games.lobby.views import lobby_now
from games.models import FavouriteTable, LiveTable, Phase, Table
from games.shared import malfunction
from games.shared.pages import stream_tokens
from games.tables.default_tables import no_commission_limits
from games.tables.status import close_table
from players.access import is_made_by_the_page
from players.models import Player
from tests.builders import a_golden_table, a_player, a_shared_table, a_table
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.live.so_far import settle_before
from tests.people import a_visitor
from wallet.models import Mode

pytestmark = pytest.mark.django_db
MONEY = 10_000_000
PLAYER, BANKER = "4H 2C 4D 3S", "AH 3C 2D 5S"  # a win of each side
LOBBY = "/en/"


def browser_of(player: Player) -> Client:
    """Return a browser in which the player is logged in."""
    browser = a_visitor()
    browser.force_login(player.user)
    return browser


def shown(page: str) -> list[str]:
    """Return the slugs of the tables on a page, in order."""
    return re.findall(r'<li class="table-card[^>]* id="table-([\w-]+)"', page)


def card(page: str, slug: str) -> str:
    """Return the part of a page about one table."""
    return page.split(f'id="table-{slug}"')[1].split("</li>")[0]


def ways_in(page: str, slug: str) -> list[str]:
    """Return the visible links of a table's card."""
    links = re.findall(r'<a class="button[^"]*" href="([^"]*)"([^>]*)>', card(page, slug))
    return [address for address, more in links if "/table/" in address and "hidden" not in more]


def close(table: Table) -> None:
    close_table(table_id=table.pk, reason="for a test", by="staff:test")


def speak(table: Table, language: str) -> None:
    """Set the chat language of the table."""
    Table.objects.filter(pk=table.pk).update(chat_language=language)


class TestTheList:
    @pytest.mark.sweep
    def test_asks_as_many_questions_for_four_tables_as_for_two(self):
        browser = browser_of(a_player(real=MONEY))
        counts = []
        for number in range(4):
            a_live_table("pairs", slug=f"live-{number}")
            with CaptureQueriesContext(connection) as queries:
                page = browser.get(LOBBY).text
            assert len(shown(page)) == number + 1
            counts.append(sum("games_" in query["sql"] for query in queries))  # without session queries
        assert counts[1] == counts[-1], counts

    def test_has_favourites_first_then_what_is_open(self):
        player = a_player(real=MONEY)
        tables = {slug: a_live_table(slug=slug).table for slug in ("first", "second", "third", "fourth")}
        stopped = LiveTable.objects.get(table=tables["first"], mode=Mode.REAL)
        malfunction.report(round_id=round_at(stopped).pk, cause="A card lay face up.", by="staff:test")
        advance_to(LiveTable.objects.get(table=tables["second"], mode=Mode.REAL), Phase.BETTING)
        close(tables["third"])
        FavouriteTable.objects.create(player=player, table=tables["third"])
        assert shown(browser_of(player).get(LOBBY).text) == ["third", "second", "fourth", "first"]

    @pytest.mark.sweep
    def test_says_of_each_kind_of_money_how_its_tables_stand(self):
        live_table = a_live_table()
        malfunction.report(round_id=round_at(live_table).pk, cause="A card lay face up.", by="staff:test")
        browser = browser_of(a_player(real=MONEY))
        real, free = browser.get(LOBBY).text, browser.get(LOBBY, {"money": "free"}).text
        assert ["The table is stopped" in card(page, "live") for page in (real, free)] == [True, False]
        assert [ways_in(page, "live") for page in (real, free)] == [["/en/table/live/real/"], ["/en/table/live/free/"]]

    @pytest.mark.parametrize(("mode", "there"), sample([("real", LOBBY), ("free", f"{LOBBY}?money=free")], 1))
    def test_is_found_from_a_table_with_the_kind_of_money_played_there(self, mode, there):
        a_live_table()
        page = browser_of(a_player(real=MONEY)).get(f"/en/table/live/{mode}/").text
        assert set(re.findall(r'<a [^>]*href="(/en/(?:\?[^"]*)?)"', page)) == {there}

    def test_leads_to_a_closed_table_only_while_its_last_round_is_played(self):
        live_table = a_live_table()
        bet(a_player(real=MONEY), live_table, player=5000)
        close(live_table.table)
        browser = browser_of(a_player(real=MONEY))
        playing = browser.get(LOBBY).text
        advance_to(live_table, Phase.SETTLED)
        over = browser.get(LOBBY).text
        assert "The table is closed" not in card(playing, "live")
        assert "The table is closed" in card(over, "live")
        assert "badge--off" in card(playing, "live")
        assert (len(ways_in(playing, "live")), len(ways_in(over, "live"))) == (1, 0)

    def test_shows_no_table_that_does_not_take_the_players_money(self):
        limits = no_commission_limits()
        a_shared_table(limits={"EUR": limits["EUR"]})
        assert shown(browser_of(a_player("SE")).get(LOBBY).text) == []
        assert shown(browser_of(a_player("DE")).get(LOBBY).text) == ["live"]


class TestAChoice:
    @pytest.fixture
    def browser(self):
        a_table()
        a_golden_table()
        speak(a_live_table(slug="german").table, "de")
        speak(a_live_table("pairs", slug="swedish").table, "sv")
        close(a_live_table("pairs", slug="shut").table)
        player = a_player(real=MONEY)
        FavouriteTable.objects.create(player=player, table=Table.objects.get(slug="swedish"))
        return browser_of(player)

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("asked", "found"),
        sample(
            [
                ({"game": "pairs"}, {"swedish", "shut"}),
                ({"company": "others"}, {"german", "swedish", "shut"}),
                ({"company": "alone"}, {"baccarat", "golden"}),
                ({"lowest": "2000"}, {"baccarat", "golden", "swedish", "shut"}),
                ({"chat": "de"}, {"german"}),
                ({"favourites": "1"}, {"swedish"}),
                ({"game": "pairs", "chat": "sv", "lowest": "1000"}, set()),
                (
                    {"game": "nonsense", "lowest": "x", "company": "?"},
                    {"baccarat", "golden", "german", "swedish", "shut"},
                ),
            ],
            4,
        ),
    )
    def test_leaves_what_fits(self, browser, asked, found):
        assert set(shown(browser.get(LOBBY, asked).text)) == found

    @pytest.mark.sweep
    def test_of_open_tables_leaves_out_those_that_are_closed_or_stopped(self, browser):
        live_table = LiveTable.objects.get(table__slug="german", mode=Mode.REAL)
        malfunction.report(round_id=round_at(live_table).pk, cause="A card lay face up.", by="staff:test")
        shut = LiveTable.objects.get(table__slug="shut", mode=Mode.REAL)
        step(shut)
        assert set(shown(browser.get(LOBBY, {"open": "1"}).text)) == {"baccarat", "golden", "swedish"}

    @pytest.mark.sweep
    def test_is_counted_and_can_be_taken_back(self, browser):
        page = browser.get(LOBBY, {"chat": "de", "money": "free"}).text
        assert "1 of 5 tables" in page
        assert '<a href="/en/?money=free">Show all tables</a>' in page
        assert '<option value="de" lang="de" selected>' in page

    @pytest.mark.sweep
    def test_that_nothing_fits_says_so_and_leads_back(self, browser):
        page = browser.get(LOBBY, {"game": "baccarat", "chat": "de"}).text
        assert "No tables match this filter." in page
        assert '<a class="button button--go" href="/en/">Show all tables</a>' in page

    @pytest.mark.sweep
    def test_is_answered_to_htmx_with_the_tables_alone(self, browser):
        answer = browser.get(LOBBY, {"game": "", "chat": "de"}, headers={"HX-Request": "true"})
        assert answer.text.strip().startswith('<div id="tables">')
        assert "<html" not in answer.text
        assert 'href="/en/?money=free&amp;chat=de"' in answer.text
        assert "HX-Request" in answer["Vary"]
        assert answer["HX-Push-Url"] == "/en/?chat=de"


class TestRoads:
    """Good roads choose and sort tables; so does what the player played last."""

    @pytest.fixture
    def tables(self):
        settle_before(a_live_table(slug="plain"), [PLAYER])
        settle_before(a_live_table("pairs", slug="dragon"), [BANKER] * 7)
        return a_player(real=MONEY)

    def test_are_named_on_a_card_with_the_last_result(self, tables):
        page = browser_of(tables).get(LOBBY).text
        assert [card(page, slug).count('class="road ') for slug in ("plain", "dragon")] == [5, 5]
        assert "<b>Banker 8 – 3</b>" in card(page, "dragon")
        assert ["Dragon tail" in card(page, slug) for slug in ("plain", "dragon")] == [False, True]

    def test_choose_and_sort_tables(self, tables):
        browser = browser_of(tables)
        assert shown(browser.get(LOBBY).text) == ["plain", "dragon"]
        assert shown(browser.get(LOBBY, {"roads": "1"}).text) == ["dragon"]
        assert shown(browser.get(LOBBY, {"sort": "road"}).text) == ["dragon", "plain"]
        assert shown(browser.get(LOBBY, {"sort": "lowest"}).text) == ["dragon", "plain"]

    def test_what_was_played_last_comes_first_and_is_one_press_away(self, tables):
        browser = browser_of(tables)
        assert "play-again" not in browser.get(LOBBY).text
        live_table = a_live_table(slug="third")
        bet(tables, live_table, player=5000)
        advance_to(live_table, Phase.SETTLED)
        page = browser.get(LOBBY).text
        assert shown(page)[0] == "third"
        assert 'id="play-again" href="/en/table/third/real/"' in page
        assert "play-again" not in browser.get(LOBBY, {"money": "free"}).text
        assert "play-again" not in browser_of(a_player(real=MONEY)).get(LOBBY).text


class TestAStar:
    @pytest.mark.sweep
    def test_keeps_a_table_and_lets_it_go(self):
        a_live_table()
        player = a_player(real=MONEY)
        browser = browser_of(player)
        kept = []
        for word in ("yes", "yes", "no", "no"):
            answer = browser.post("/en/lobby/favourite/live/", {"keep": word}, headers={"HX-Request": "true"})
            kept.append((FavouriteTable.objects.filter(player=player).count(), 'aria-pressed="true"' in answer.text))
        assert kept == [(1, True), (1, True), (0, False), (0, False)]

    @pytest.mark.sweep
    def test_leads_readers_without_a_script_back_to_the_same_tables(self):
        a_live_table()
        answer = browser_of(a_player(real=MONEY)).post(
            "/en/lobby/favourite/live/?money=free&game=pairs", {"keep": "yes"}
        )
        assert (answer.status_code, answer["Location"]) == (302, "/en/?money=free&game=pairs#table-live")

    def test_is_the_players_own(self):
        a_live_table()
        browser_of(a_player()).post("/en/lobby/favourite/live/", {"keep": "yes"})
        page = browser_of(a_player()).get(LOBBY).text
        assert 'aria-pressed="false"' in card(page, "live")
        assert "star" not in a_visitor().get(LOBBY).text

    @pytest.mark.sweep
    def test_of_a_table_that_is_not_there_is_not_found(self):
        assert browser_of(a_player()).post("/en/lobby/favourite/nowhere/", {"keep": "yes"}).status_code == 404


class TestAskingAgain:
    def test_is_nothing_that_anybody_did(self):
        assert is_made_by_the_page(lobby_now)

    @pytest.mark.sweep
    def test_brings_the_cards_and_to_a_player_a_ticket_for_that_lobby(self):
        a_live_table()
        player = a_player()
        browser = browser_of(player)
        answer = browser.get("/en/lobby/now/", {"money": "free"}).text
        (address,) = re.findall(r'data-stream="([^"]+)"', answer)
        ticket = stream_tokens.read(address, browser.session.session_key)
        assert (ticket.player, ticket.live_table, ticket.lobby, ticket.language) == (player.pk, None, Mode.FREE, "en")
        assert re.findall(r'id="(card-[^"]+)"', answer) == ["card-live-F"]

    def test_gives_a_visitor_the_cards_alone(self):
        a_live_table()
        answer = a_visitor().get("/en/lobby/now/").text
        assert 'data-stream=""' in answer
        assert 'id="card-live-R"' in answer

    def test_says_the_same_to_everybody_whatever_they_have_bet(self):
        live_table = a_live_table()
        player = a_player(real=MONEY)
        bet(player, live_table, player=5000)
        answers = [visitor.get("/en/lobby/now/").text for visitor in (browser_of(player), browser_of(a_player()))]
        cards = [
            re.sub(r'data-(stream|now)="[^"]*"|<b class="num" data-seconds>\d+|dasharray="[^"]*"', "", each)
            for each in answers
        ]
        assert cards[0] == cards[1]
        assert player.user.email not in answers[0]
