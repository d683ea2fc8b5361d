"""The lobby in real Chromium: in two languages it follows the tables; keys choose among them and mark one."""

import re

import pytest
from playwright.sync_api import Page, expect

from games.models import FavouriteTable, LiveTable, Phase
from games.shared import malfunction
from games.shared.pages import stream_tokens
from players.login import sessions
from players.models import Ended
from tests.browser.at_table import a_window
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.databases import Database
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.live.so_far import settle_before

OFTEN = 5_000  # milliseconds after which a player's page has asked
NOW_AND_THEN = 16_000  # and a visitor's
STREAM = re.compile(f"://[^/]+{stream_tokens.PATH}")


def says(page: Page, live_table: LiveTable, word: str) -> None:
    expect(page.locator(f"#card-{live_table.table.slug}-R .card-live__phase")).to_have_text(word)


@pytest.mark.turns(3)
def test_two_lobbies_follow_a_round_and_are_walked_by_keys(
    cloned_db: Database, new_context: NewContext, web_server: WebServer
) -> None:
    live_table, other = a_live_table(slug="live"), a_live_table("pairs", slug="pairs")
    player = a_player(real=1000_00)
    english, german = (a_window(new_context, web_server, each).new_page() for each in (player, a_player("DE")))
    asked: list[str] = []
    english.on("request", lambda request: asked.append(request.url))
    for page, address in ((english, "/en/"), (german, "/de/")):
        with page.expect_response(STREAM) as stream:
            page.goto(address)
        assert stream.value.ok
    says(english, live_table, "Place your bets")
    says(german, live_table, "Ihre Einsätze, bitte")

    bet(player, live_table, player=50_00)
    advance_to(live_table, Phase.CLOSED)
    says(english, live_table, "No more bets")
    says(german, live_table, "Nichts geht mehr")
    card = english.locator("#card-live-R")
    expect(card).to_contain_text("1 player")
    advance_to(live_table, Phase.DEALT)
    says(english, live_table, "Cards are being dealt")
    expect(card).to_contain_text("No results in this shoe yet")
    advance_to(live_table, Phase.SETTLED)
    says(english, live_table, "Next round")
    expect(card).not_to_contain_text("No results in this shoe yet")
    expect(german.locator("#card-live-R")).not_to_contain_text("Noch keine Ergebnisse")
    malfunction.report(round_id=round_at(other).pk, cause="A card lay face up.", by="staff:test")
    says(german, other, "Das Spiel ist unterbrochen")
    assert not [address for address in asked if "/lobby/now/" in address]

    english.locator("#star-button-pairs").focus()
    english.keyboard.press("Enter")
    expect(english.locator("#star-button-pairs[aria-pressed=true]")).to_be_focused()
    assert FavouriteTable.objects.get().table == other.table
    english.locator("#filter-favourites").focus()
    english.keyboard.press("Space")
    expect(english.locator("#lobby-count")).to_have_text("1 of 2 tables")
    expect(english).to_have_url(re.compile(r"\?favourites=1$"))
    says(english, other, "The table is stopped")
    expect(english.locator("#filter-favourites")).to_be_focused()
    english.locator("#lobby-clear a").press("Enter")
    expect(english.locator(".table-card h2")).to_have_text(["Live pairs", "Live"])
    assert english.locator(".table-card").first.get_attribute("id") == "table-pairs"


@pytest.mark.sweep
def test_without_a_stream_a_player_asks_often_and_a_visitor_now_and_then(
    cloned_db: Database, new_context: NewContext, web_server: WebServer
) -> None:
    live_table = a_live_table(slug="live")
    player = a_player(real=1000_00)
    page = a_window(new_context, web_server, player).new_page()
    page.route(STREAM, lambda route: route.abort())
    visitor = new_context(base_url=web_server.url).new_page()
    streams: list[str] = []
    visitor.on("request", lambda request: streams.extend(STREAM.findall(request.url)))
    for each in (page, visitor):
        each.clock.install()
        each.goto("/en/")
    bet(player, live_table, player=50_00)
    advance_to(live_table, Phase.CLOSED)
    page.clock.run_for(OFTEN)
    says(page, live_table, "No more bets")
    expect(page.locator("#lobby-lost")).to_be_empty()
    visitor.clock.run_for(NOW_AND_THEN)
    says(visitor, live_table, "No more bets")
    assert not streams

    sessions.end_all(user=player.user, why=Ended.ELSEWHERE, by=str(player))
    page.clock.run_for(OFTEN)
    expect(page.locator("#session-over")).to_be_visible()


@pytest.mark.turns(3)
def test_the_lobby_shows_five_roads_tells_of_a_good_one_and_shows_those_tables_alone(
    cloned_db: Database, new_context: NewContext, web_server: WebServer
) -> None:
    live_table, other = a_live_table(slug="live"), a_live_table("pairs", slug="pairs")
    settle_before(live_table, ["AH 3C 2D 5S"] * 5)  # Banker wins
    page = a_window(new_context, web_server, a_player(real=1000_00), viewport=PHONE).new_page()
    with page.expect_response(STREAM):
        page.goto("/en/")
    expect(page.locator("#card-live-R .road")).to_have_count(5)
    expect(page.locator("#card-live-R .badge--brass")).to_contain_text("Long Banker")
    expect(page.locator("#lobby-road")).to_be_empty()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]

    settle_before(other, ["4H 2C 4D 3S"] * 7)  # Player wins
    bet(a_player(real=1000_00), other, player=20_00)  # which tells the lobby to read the card
    advance_to(other, Phase.CLOSED)
    expect(page.locator("#lobby-road")).to_have_text("Good road at Live pairs: Dragon tail")
    page.goto("/en/?roads=1&sort=lowest")
    expect(page.locator(".table-card h2")).to_have_text(["Live pairs", "Live"])
    expect(page.locator("#filter-roads")).to_be_checked()
