"""A shoe that has ended is dealt again by the reader's own browser: every round, in its order, and none left out."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import transaction
from playwright.sync_api import BrowserContext, Page, expect

from games.models import Phase, Shoe, ShoeEnding
from games.shared import shoes
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.voiding import cancel

pytestmark = pytest.mark.browser

# What is spoilt as only the owner of the tables could; each takes the shoe.
SPOILT = {
    "a card": "UPDATE games_liveround SET cards = '9H 4D KS 2C' WHERE shoe_id = %s AND number = 2",
    "where a round began": "UPDATE games_liveround SET first_card = first_card + 1 WHERE shoe_id = %s AND number = 2",
    "a round left out": "UPDATE games_liveround SET cards = '', first_card = NULL WHERE shoe_id = %s AND number = 1",
    "how many cards were burned": "UPDATE games_shoe SET burned = burned + 1 WHERE id = %s",
    "that it was dealt through": "UPDATE games_shoe SET ending = 'cut_card' WHERE id = %s",
}

KEEP = (
    "ALTER TABLE games_liveround DISABLE TRIGGER USER",
    "ALTER TABLE games_shoe DISABLE TRIGGER USER",
    "CREATE TEMP TABLE kept_round AS TABLE games_liveround",
    "CREATE TEMP TABLE kept_shoe AS TABLE games_shoe",
)
MEND = (
    "UPDATE games_liveround AS r SET cards = k.cards, first_card = k.first_card FROM kept_round AS k WHERE k.id = r.id",
    "UPDATE games_shoe AS s SET burned = k.burned, ending = k.ending FROM kept_shoe AS k WHERE k.id = s.id",
)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page in which nothing may fail, on the console or otherwise."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    assert complaints == []


def a_spent_shoe() -> Shoe:
    """Three rounds were paid, the bets on a fourth voided, and the shoe was retired."""
    live_table, player = a_live_table(), a_player(real=1_000_000)
    for _ in range(3):
        bet(player, live_table, player=25_000)
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
    bet(player, live_table, player=25_000)
    going = round_at(live_table)
    cancel(round_id=going.pk, by="staff:1")
    with transaction.atomic():
        shoes.end(going.shoe, ShoeEnding.RETIRED)
    return going.shoe


def verdict(page: Page, shoe: Shoe, which: str) -> None:
    page.goto(f"/en/fair/shoe/{shoe.pk}/")
    expect(page.locator(f"[data-verdict={which}]")).to_be_visible()
    expect(page.locator("[data-verdict]:visible")).to_have_count(1)


def test_it_says_so_where_everything_follows_from_the_seed_and_finds_whatever_does_not(
    page: Page, owner: psycopg.Connection
) -> None:
    shoe = a_spent_shoe()
    verdict(page, shoe, "match")
    expect(page.locator("[data-right]:visible")).to_have_count(3)
    expect(page.locator(".badge--void")).to_have_count(1)
    for statement in KEEP:
        owner.execute(statement)
    for statement in SPOILT.values():
        assert owner.execute(statement, [shoe.pk]).rowcount == 1
        verdict(page, shoe, "mismatch")
        for mend in MEND:
            owner.execute(mend)
    verdict(page, shoe, "match")
    owner.execute("UPDATE games_shoe SET commitment = repeat('0', 64) WHERE id = %s", [shoe.pk])
    verdict(page, shoe, "seal")


@pytest.mark.sweep
def test_it_is_read_on_a_phone_without_the_page_growing_wider(new_context: NewContext, web_server: WebServer) -> None:
    shoe = a_spent_shoe()
    page = new_context(base_url=web_server.url, viewport=PHONE).new_page()
    verdict(page, shoe, "match")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_shoe_in_play_is_not_checked_and_its_seed_is_not_there(page: Page) -> None:
    live_table = a_live_table()
    shoe = round_at(live_table).shoe
    page.goto(f"/de/fair/shoe/{shoe.pk}/")
    expect(page.get_by_text(shoe.commitment)).to_be_visible()
    expect(page.get_by_text("Dieser Kartenschlitten ist im Spiel.")).to_be_visible()
    expect(page.locator("script[src*='shoe']")).to_have_count(0)
