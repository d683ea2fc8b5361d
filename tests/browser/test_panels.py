"""The panels next to a live table in a real browser: a bet stays while the player opens all of them."""

import re

import pytest
from playwright.sync_api import Page, expect

from games.models import Participation, Phase
from games.shared.pages.panel_tabs import panel_names
from tests.browser.at_table import windows_without_complaint
from tests.browser.test_live import choose, opened, put, turn_up_everything
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, step

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

LAPTOP = {"width": 1366, "height": 768}


def open_panel(page: Page, name: str) -> None:
    """Open a panel by its tab and see that it is filled."""
    page.locator(f"#tab-{name}").click()
    expect(page.locator(f"#tab-{name}")).to_have_attribute("aria-selected", "true")
    expect(page.locator(f"#panel-{name}")).to_be_visible()
    expect(page.locator(f"#panel-{name} .side__wait")).to_have_count(0)
    expect(page.locator("[role=tabpanel]:visible")).to_have_count(1)


def back_to_the_table(page: Page, name: str) -> None:
    """Close the sheet, which shows the table's announcements while open; the focus returns to its tab."""
    expect(page.locator("#live-sheet .sheet__call")).to_have_text("Place your bets")
    expect(page.locator("#live-sheet .sheet__balance")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#live-sheet")).to_be_hidden()
    expect(page.locator(f"#tab-{name}")).to_be_focused()


def expect_at_hand(page: Page) -> None:
    """Balance, the house's clock and the code of the round are at the bottom right, below the bets, in view."""
    corner = page.locator(".live-corner")
    for part in (corner.locator(".meter--balance"), corner.locator("#live-clock"), corner.locator("b").last):
        expect(part).to_be_in_viewport()
        expect(part).to_contain_text(re.compile(r"\w"))
    box, bets = corner.bounding_box(), page.locator(".spots").bounding_box()
    assert box
    assert bets
    assert box["y"] >= bets["y"] + bets["height"]
    assert box["x"] + box["width"] / 2 > bets["x"] + bets["width"] / 2


@pytest.mark.sweep
@pytest.mark.parametrize("size", sweep([LAPTOP, PHONE], always=[PHONE]), ids=["laptop", "phone"])
def test_a_bet_stays_while_all_panels_are_opened_and_settles(
    new_context: NewContext, web_server: WebServer, size: dict[str, int]
):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = opened(open_page, "en", viewport=size)
        choose(page, 25_000)
        put(page, "player", "250.00")
        expect_at_hand(page)
        for name in panel_names(live_table.table):
            open_panel(page, name)
            if size == PHONE:
                back_to_the_table(page, name)
        expect(page.locator("#bet-player .spot__stake")).to_contain_text("250.00")

        open_panel(page, "history")
        expect(page.locator("#panel-history .side__empty")).to_be_visible()
        assert step(live_table).phase == Phase.CLOSED
        step(live_table)
        turn_up_everything(live_table)
        part = Participation.objects.get(player=player)
        page.get_by_role("link", name=part.round.code).click()  # the list has asked for itself
        expect(page.get_by_role("heading", name=f"Round {part.round.code}")).to_be_focused()
        page.get_by_role("button", name="Back to the rounds").click()
        expect(page.get_by_role("link", name=part.round.code)).to_be_visible()
        assert [wager.stake for wager in part.wagers.all()] == [25_000]


@pytest.mark.sweep
def test_tabs_are_gone_through_by_key_and_the_last_choice_is_kept(new_context: NewContext, web_server: WebServer):
    a_live_table()
    with windows_without_complaint(new_context, web_server, a_player(real=1_000_000)) as open_page:
        page = opened(open_page, "en")
        expect(page.locator("#panel-statistics")).to_be_visible()
        page.locator("#tab-statistics").focus()
        for key, name in (("ArrowLeft", "settings"), ("ArrowRight", "statistics"), ("End", "settings")):
            page.keyboard.press(key)
            expect(page.locator(f"#tab-{name}")).to_be_focused()
        expect(page.locator("#panel-statistics")).to_be_visible()
        page.keyboard.press("Enter")
        light = page.locator("#panel-settings").get_by_role("group", name="Theme").get_by_label("Light")
        light.check()
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        page.reload()
        expect(light).to_be_checked()
