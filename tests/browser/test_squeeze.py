"""Cards turned by one player for all at the table: who turns, how, with no delay for others; the result comes last."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from games.engine.cards import Card
from games.engine.coup import Coup, deal
from games.models import LiveTable, Phase, Squeeze
from tests.browser.at_table import windows_without_complaint
from tests.browser.test_live import choose, put, turn_up_everything
from tests.builders import a_player
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, bet, round_at, step
from tests.live.streaming import until

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

SHARED = "/en/table/live/real/"
SQUEEZING = "localStorage.setItem('sabot.squeeze', 'on')"
DOWN = ".live-stage .card--down"
ORDER = {1: 1, 2: 3, 3: 5}  # of the cards of the Player hand among all
KEPT_BACK = ("#live-public .hand__won", "#live-public .live-call__what--player", "#live-own .meter__won", ".spot__lit")


def open_squeezing(page: Page) -> None:
    """Open the table with squeezing on and the largest bet on Player."""
    page.add_init_script(SQUEEZING)
    page.goto(SHARED)
    choose(page, 25_000)
    put(page, "player", "250.00")


def close_bets(live_table: LiveTable, page: Page) -> None:
    """Close the bets, and wait until the page has said that it turns the cards."""
    step(live_table)
    expect(page.locator("#live-own")).to_have_attribute("data-squeezes", re.compile("player"))
    expect(page.locator("#live-public")).to_have_attribute("data-phase", "closed")


def deal_all(live_table: LiveTable, page: Page, *watchers: Page) -> Coup:
    """Have the round dealt and paid, and return its cards. Other pages learn in time that this page turns them."""
    close_bets(live_table, page)
    until(Squeeze.objects.filter(side="player").exclude(at=None).exists)
    for watcher in watchers:
        expect(watcher.locator("link[href*=squeeze]")).to_have_count(1)
    step(live_table)
    expect(page.locator(DOWN)).to_have_count(1)
    turn_up_everything(live_table)
    expect(page.locator("#live-public [data-seconds]")).to_be_visible()
    return deal(Card.parse(code) for code in round_at(live_table).cards.split())


def peel(page: Page, card: Locator, share: float) -> tuple[float, float]:
    """Take the card at its lower edge and drag it up by this share of its height; return where it was taken."""
    card.scroll_into_view_if_needed()
    box = card.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 12)
    page.mouse.move(x + 6, y - box["height"] * share, steps=6)
    return x, y


def test_the_largest_stake_on_player_turns_its_cards_and_the_others_see_each_step_and_wait_for_the_last(
    new_context: NewContext, web_server: WebServer
):
    live_table, player, other = a_live_table(), a_player(real=1_000_000), a_player(real=1_000_000)
    with (
        windows_without_complaint(new_context, web_server, player, reduced_motion="no-preference") as open_page,
        windows_without_complaint(new_context, web_server, other, reduced_motion="no-preference") as open_other,
    ):
        watcher = open_other(viewport=PHONE)
        watcher.goto(SHARED)
        choose(watcher, 5_000)
        put(watcher, "player", "50.00")
        page = open_page(viewport=DESKTOP)
        open_squeezing(page)
        coup = deal_all(live_table, page, watcher)
        for each in (page, watcher):
            expect(each.locator("#live-hand-player .card--down")).to_have_count(2)
            expect(each.locator("#live-hand-banker .card--down")).to_have_count(0)
        expect(watcher.locator(".live-call__what")).to_have_text("A player is turning the cards")
        expect(watcher.locator(".bettor").filter(has=watcher.locator(".bettor__turns--player"))).to_contain_text("250")
        balance, board = page.locator("#live-own .meter--balance").inner_text(), key_of(watcher)

        start = peel(page, page.locator(DOWN).first, 0.5)
        expect(page.locator(DOWN).first).to_have_class(re.compile("card--lifted"))
        expect(watcher.locator(DOWN).first).to_have_class(re.compile("card--lifted"))
        assert Squeeze.objects.get(side="player").share > 0
        page.mouse.move(*start, steps=4)
        page.mouse.up()
        expect(watcher.locator(".card--lifted")).to_have_count(0)
        watcher.locator(DOWN).first.click(force=True)  # not theirs
        expect(watcher.locator(DOWN)).to_have_count(2)
        for number in range(1, len(coup.player) + 1):
            for each in (page, watcher):
                for kept in KEPT_BACK:
                    expect(each.locator(kept)).to_have_count(0)
            assert page.locator("#live-own .meter--balance").inner_text() == balance
            assert key_of(watcher) == board
            card = page.locator(f"#squeeze-{ORDER[number]}")
            if number % 2:
                card.press("Enter")
            else:
                peel(page, card, 1.9)
                page.mouse.up()
            expect(watcher.locator(f"#squeeze-{ORDER[number]}.card--down")).to_have_count(0)
        for each in (page, watcher):
            expect(each.locator(".live-mine__last a")).to_have_count(1)
            expect(each.locator("#live-board")).not_to_have_attribute("data-key", board)
        assert sorted(Squeeze.objects.get(side="player").turned) == list(range(1, len(coup.player) + 1))


def key_of(page: Page) -> str:
    """Return the text that the board announces."""
    return str(page.locator("#live-board").get_attribute("data-key"))


def test_a_player_who_says_so_and_then_does_nothing_holds_nobody_up(new_context: NewContext, web_server: WebServer):
    live_table, player, other = a_live_table(), a_player(real=1_000_000), a_player(real=1_000_000)
    with (
        windows_without_complaint(new_context, web_server, player) as open_page,
        windows_without_complaint(new_context, web_server, other) as open_other,
    ):
        watcher = open_other()
        watcher.goto(SHARED)
        page = open_page()
        open_squeezing(page)
        deal_all(live_table, page, watcher)
        expect(watcher.locator("#live-hand-player .card--down")).to_have_count(2)
        expect(watcher.locator(DOWN)).to_have_count(0, timeout=15_000)
        expect(watcher.locator("#live-board")).to_have_attribute("data-key", re.compile("."))
        assert step(live_table).phase == Phase.BETTING
        expect(page.locator("#live-public")).to_have_attribute("data-phase", "betting")
        expect(page.locator(DOWN)).to_have_count(0)
        expect(page.locator(".live-mine__last a")).to_have_count(1)


@pytest.mark.sweep
def test_on_a_phone_keys_lift_a_card_in_steps_and_tell_nothing(new_context: NewContext, web_server: WebServer):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page(viewport=PHONE)
        open_squeezing(page)
        deal_all(live_table, page)
        card = page.locator(DOWN).first
        for share in (20, 40):
            card.press("ArrowUp")
            expect(card).to_have_attribute("aria-valuenow", str(share))
        assert "wins" not in page.locator("#spoken").inner_text()


@pytest.mark.sweep
def test_cards_turn_by_themselves_where_the_largest_stake_does_not_want_to(
    new_context: NewContext, web_server: WebServer
):
    live_table, player, other = a_live_table(), a_player(real=1_000_000), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page()
        open_squeezing(page)
        bet(other, live_table, player=1_000_00)
        step(live_table)
        expect(page.locator("#live-public")).to_have_attribute("data-phase", "closed")
        step(live_table)
        turn_up_everything(live_table)
        expect(page.locator(".live-mine__last a")).to_have_count(1)
        expect(page.locator(DOWN)).to_have_count(0)
        assert Squeeze.objects.get(side="player").at is None
