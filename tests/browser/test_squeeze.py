"""Cards that the reader turns: by hand and by keys, on this screen alone; what they decide comes out with the last."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from games.models import LiveTable, Phase
from tests.browser.at_table import windows_without_complaint
from tests.browser.test_live import choose, put, turn_up_everything
from tests.builders import a_player
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, round_at, step

pytestmark = pytest.mark.browser

SQUEEZING = "localStorage.setItem('sabot.squeeze', 'on')"
DOWN = ".live-stage .card--down"
KEPT_BACK = ("#live-public .hand__won", "#live-public .live-call__what--player", "#live-own .meter__won", ".spot__lit")


def open_squeezing(page: Page) -> None:
    """Open the table with squeezing on and a bet on it."""
    page.add_init_script(SQUEEZING)
    page.goto("/en/table/live/real/")
    choose(page, 5_000)
    put(page, "player", "50.00")


def deal_all(live_table: LiveTable, page: Page) -> int:
    """Have the round dealt and paid; return how many cards it has."""
    step(live_table)
    expect(page.locator("#live-public")).to_have_attribute("data-phase", "closed")
    step(live_table)
    expect(page.locator(DOWN)).to_have_count(1)
    turn_up_everything(live_table)
    expect(page.locator("#live-public [data-seconds]")).to_be_visible()
    return len(round_at(live_table).cards.split())


def peel(page: Page, card: Locator, share: float) -> tuple[float, float]:
    """Take the card at its lower edge and draw it up by so much of its height; return where it was taken."""
    card.scroll_into_view_if_needed()
    box = card.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 12)
    page.mouse.move(x + 6, y - box["height"] * share, steps=6)
    return x, y


def test_cards_are_turned_by_hand_and_nothing_is_revealed_or_sent_before_the_last(
    new_context: NewContext, web_server: WebServer
):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player, reduced_motion="no-preference") as open_page:
        page = open_page(viewport=DESKTOP)
        open_squeezing(page)
        cards = deal_all(live_table, page)
        expect(page.locator(DOWN)).to_have_count(4)
        balance, board = page.locator("#live-own .meter--balance").inner_text(), key_of(page)
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.url) if "/static/" not in request.url else None)
        start = peel(page, page.locator(DOWN).first, 0.8)
        expect(page.locator(DOWN).first).to_have_class(re.compile("card--lifted"))
        page.mouse.move(*start, steps=4)
        page.mouse.up()
        expect(page.locator(".card--held, .card--lifted")).to_have_count(0)
        expect(page.locator(DOWN)).to_have_count(4)
        for number in range(1, cards + 1):
            for kept in KEPT_BACK:
                expect(page.locator(kept)).to_have_count(0)
            assert page.locator("#live-own .meter--balance").inner_text() == balance
            assert key_of(page) == board
            assert sent == []
            card = page.locator(f"#squeeze-{number}")
            if number % 2:
                card.press("Enter")
            else:
                peel_over(page, card)
            expect(page.locator(f"#squeeze-{number}.card--down")).to_have_count(0)
        expect(page.locator(".live-mine__last a")).to_have_count(1)
        expect(page.locator("#live-board")).not_to_have_attribute("data-key", board)


def key_of(page: Page) -> str:
    """What the board says it shows."""
    return str(page.locator("#live-board").get_attribute("data-key"))


def peel_over(page: Page, card: Locator) -> None:
    """Take the card at its lower edge and turn it over."""
    peel(page, card, 1.9)
    page.mouse.up()


@pytest.mark.sweep
def test_on_a_phone_keys_lift_a_card_in_steps_and_the_next_bets_find_everything_open(
    new_context: NewContext, web_server: WebServer
):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page(viewport=PHONE)
        open_squeezing(page)
        deal_all(live_table, page)
        card = page.locator(DOWN).first
        for share in (20, 40):
            card.press("ArrowUp")
            expect(card).to_have_attribute("aria-valuenow", str(share))
        told = page.locator("#spoken").inner_text()
        assert "wins" not in told
        step(live_table)
        assert round_at(live_table).phase == Phase.BETTING
        expect(page.locator("#live-public")).to_have_attribute("data-phase", "betting")
        expect(page.locator(DOWN)).to_have_count(0)
        expect(page.locator(".live-mine__last a")).to_have_count(1)
