"""A shoe that has ended is dealt again by the reader's own browser: every round, in its order, and none left out."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import transaction
from playwright.sync_api import BrowserContext, Page, expect

from games.models import Phase, Shoe, ShoeEnding
from games.shared import shoes
from tests.browser.at_table import log_in
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.voiding import cancel

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

# Damage as only the owner of the database tables can do; each statement takes the shoe.
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
    assert shoes.publish(going.shoe_id) == ()
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


# Damage of a shoe in play, and the rounds that it makes wrong.
SPOILT_IN_PLAY = {
    "a card": ("UPDATE games_dealtcards SET cards = replace(cards, left(cards, 2), {other}) WHERE {second}", [2]),
    "a salt": ("UPDATE games_dealtcards SET salts = set_byte(salts, 0, 255 - get_byte(salts, 0)) WHERE {second}", [2]),
    "a card left out": ("UPDATE games_dealtcards SET cards = left(cards, length(cards) - 3) WHERE {second}", [2, 3]),
    "a round left out": ("DELETE FROM games_dealtcards WHERE {second}", [2, 3]),
}
PIECES = {
    "second": "round_id = (SELECT id FROM games_liveround WHERE shoe_id = %s AND number = 2)",
    "other": "CASE left(cards, 2) WHEN '9H' THEN '4D' ELSE '9H' END",
}


def verified(page: Page, which: str) -> None:
    """Press the button on the page of a shoe in play."""
    page.reload()
    page.get_by_role("button", name="Verify in your browser").click()
    expect(page.locator(f"[data-verdict={which}]")).to_be_visible()
    expect(page.locator("[data-verdict]:visible")).to_have_count(1)


def test_of_a_shoe_in_play_every_round_that_is_over_is_verified_and_no_card_is_shown(
    page: Page, owner: psycopg.Connection
) -> None:
    live_table, player = a_live_table(), a_player(real=1_000_000)
    for _ in range(3):
        bet(player, live_table, banker=25_000)
        advance_to(live_table, Phase.SETTLED)
        step(live_table)
    shoe = round_at(live_table).shoe
    page.goto(f"/de/fair/shoe/{shoe.pk}/")
    expect(page.get_by_text(shoe.root, exact=True)).to_be_visible()
    expect(page.get_by_text("Dieser Kartenschlitten ist im Spiel.")).to_be_visible()
    expect(page.locator("[data-verdict]:visible")).to_have_count(0)
    page.goto(f"/en/fair/shoe/{shoe.pk}/")
    verified(page, "proof-match")
    expect(page.locator("[data-right]:visible")).to_have_count(3)
    expect(page.locator(".small-hand")).to_have_count(0)
    owner.execute("ALTER TABLE games_dealtcards DISABLE TRIGGER USER")
    owner.execute("ALTER TABLE games_shoe DISABLE TRIGGER USER")
    owner.execute("CREATE TEMP TABLE kept AS TABLE games_dealtcards")
    for statement, wrong in SPOILT_IN_PLAY.values():
        assert owner.execute(statement.format(**PIECES), [shoe.pk]).rowcount == 1
        verified(page, "proof-mismatch")
        numbers = page.locator("li:has([data-wrong]:visible) > p:first-child > b").all_inner_texts()
        assert numbers == list(map(str, wrong))
        owner.execute("DELETE FROM games_dealtcards")
        owner.execute("INSERT INTO games_dealtcards OVERRIDING SYSTEM VALUE TABLE kept")
    verified(page, "proof-match")
    owner.execute("UPDATE games_shoe SET root = repeat('0', 64) WHERE id = %s", [shoe.pk])
    verified(page, "proof-seal")


def test_the_replay_of_a_round_of_a_shoe_in_play_is_verified_card_by_card(
    page: Page, owner: psycopg.Connection, web_server: WebServer
) -> None:
    live_table, player = a_live_table(), a_player(real=1_000_000)
    bet(player, live_table, banker=25_000)
    done = advance_to(live_table, Phase.SETTLED)
    log_in(page.context, web_server, player.user)
    page.goto(f"/en/history/{done.pk}/")
    button = page.get_by_role("button", name="Verify in your browser")
    button.click()
    expect(page.locator("#hand-proof [data-verdict=match]")).to_be_visible()
    for table in ("games_dealtcards", "games_shoe"):
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    for statement in (
        "UPDATE games_shoe SET root = repeat('0', 64) WHERE id = %(shoe)s",
        "UPDATE games_dealtcards SET cards = '9H 4D KS 2C' WHERE round_id = %(round)s",
    ):
        assert owner.execute(statement, {"shoe": done.shoe_id, "round": done.pk}).rowcount == 1
        page.reload()
        button.click()
        expect(page.locator("#hand-proof [data-verdict=mismatch]")).to_be_visible()
        owner.execute("UPDATE games_shoe SET root = %s WHERE id = %s", [done.shoe.root, done.shoe_id])
