"""Two to four tables in one window, each in its own frame: bets at each, one balance, one reality check."""

import re

import pytest
from playwright.sync_api import FrameLocator, Page, ViewportSize, expect

from games.models import LiveTable, Participation
from tests.browser.at_table import a_window, windows_without_complaint
from tests.browser.test_live import turn_up_everything
from tests.builders import a_player
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.owner import as_owner
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, step

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

BOTH = "/en/multi-table/live:real,second:real/"
SIZES: tuple[ViewportSize, ...] = ({"width": 1440, "height": 900}, {"width": 1280, "height": 800})
BALANCE = "#bar-balance b"


def put(table: FrameLocator, chip: int, bet: str, amount: str) -> None:
    table.locator(f"#chip-{chip}").check(force=True)
    table.locator(f"#bet-{bet}").click()
    expect(table.locator(f"#bet-{bet} .spot__stake")).to_contain_text(amount)


def play(live_table: LiveTable) -> None:
    """Have the round dealt and paid."""
    step(live_table)
    step(live_table)
    turn_up_everything(live_table)


def is_in_view(page: Page, table: FrameLocator, part: str) -> bool:
    """Return whether a part of a framed table is wholly inside the window."""
    box, window = table.locator(part).bounding_box(), page.viewport_size
    return box is not None and window is not None and box["y"] + box["height"] <= window["height"]


@pytest.mark.sweep
def test_bets_at_two_tables_side_by_side_are_played_from_the_one_balance(
    new_context: NewContext, web_server: WebServer
):
    tables, player = (a_live_table(), a_live_table(slug="second")), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page(viewport=DESKTOP)
        page.goto("/en/table/live/real/")
        page.get_by_role("link", name="Add a table").click()
        page.locator(".multi-table-choice__table").first.click()
        expect(page).to_have_url(f"{web_server.url}{BOTH}")
        left, right = page.frame_locator("#multi-table-1"), page.frame_locator("#multi-table-2")
        put(left, 25_000, "player", "250.00")
        expect(page.locator(BALANCE)).to_contain_text("9,750.00")
        put(right, 5_000, "tie", "50.00")
        expect(page.locator(BALANCE)).to_contain_text("9,700.00")
        for table in (left, right):
            expect(table.locator("#live-own .meter--balance")).to_be_hidden()
        for size in SIZES:
            page.set_viewport_size(size)
            for table in (left, right):
                assert is_in_view(page, table, "#tab-settings")
        for live_table, table in zip(tables, (left, right), strict=True):
            play(live_table)
            expect(table.locator(".live-mine__last a")).to_have_count(1)
        won = sum(part.paid - part.staked for part in Participation.objects.filter(player=player))
        expect(page.locator(BALANCE)).to_contain_text(f"{(1_000_000 + won) / 100:,.2f}")
        expect(page.locator("#play-session-net")).to_contain_text(f"{abs(won) / 100:,.2f}")

        step(tables[0])
        expect(left.locator("#bet-tie")).not_to_have_attribute("aria-disabled", "true")
        as_owner(
            "UPDATE players_playsession SET checked_at = clock_timestamp() - interval '1 day' WHERE player_id = %s",
            [player.pk],
        )
        left.locator("#bet-tie").click()
        expect(page.locator("#check")).to_have_count(1)
        expect(page.locator("#check")).to_be_visible()
        expect(left.locator("#check")).to_have_count(0)
        page.get_by_role("button", name="Continue playing").click()
        expect(page).to_have_url(f"{web_server.url}{BOTH}")
        expect(left.locator("#bet-tie")).to_be_visible()


def test_four_tables_have_cards_bets_countdown_and_road_in_view_and_one_balance(
    new_context: NewContext, web_server: WebServer
):
    tables = [a_live_table(slug=slug) for slug in ("live", "second", "third", "fourth")]
    player = a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page(viewport=SIZES[-1])
        page.goto("/en/multi-table/live:real,second:real,third:real,fourth:real/")
        frames = [page.frame_locator(f"#multi-table-{at}") for at in range(1, 5)]
        for at, table in enumerate(frames, 1):
            put(table, 5_000, "player", "50.00")
            expect(page.locator(BALANCE)).to_contain_text(f"{(1_000_000 - at * 5_000) / 100:,.2f}")
            for part in (".live .hand--banker", ".live-call__clock", "#bet-banker", "#act-rebet", "#live-bet"):
                assert is_in_view(page, table, part), part
        for live_table, table in zip(tables, frames, strict=True):
            play(live_table)
            expect(table.locator(".live-mine__last a")).to_have_count(1)
        for at, table in enumerate(frames, 1):
            expect(table.locator(".board .road--beads desc")).to_contain_text("1")
            road = table.locator(".board__road--big svg").inner_html()
            assert page.locator(f"section:has(#multi-table-{at}) .multi-table__road svg").inner_html() == road
        page.get_by_role("link", name="Close").last.click()
        expect(page).to_have_url(f"{web_server.url}/en/multi-table/live:real,second:real,third:real/")
        expect(page.get_by_role("link", name="Add a table")).to_be_visible()


@pytest.mark.sweep
def test_a_narrow_window_leads_to_each_table_and_a_table_that_is_gone_says_so(
    new_context: NewContext, web_server: WebServer
):
    a_live_table()
    a_live_table(slug="second")
    page = a_window(new_context, web_server, a_player(real=1_000_000), viewport=PHONE).new_page()
    page.goto("/en/table/live/real/")
    expect(page.locator(".links__multi-table")).to_be_hidden()
    page.goto(BOTH)
    expect(page.locator("iframe[src]")).to_have_count(0)
    expect(page.get_by_text("This window is too narrow for several tables")).to_be_visible()
    page.set_viewport_size(SIZES[-1])
    expect(page.frame_locator("#multi-table-2").locator("#live")).to_be_visible()
    page.locator("#multi-table-2").evaluate("frame => { frame.src = '/en/cashier/' }")
    expect(page.locator(".multi-table__closed", has_text="cannot be shown here")).to_be_visible()
    page.locator(".multi-table__side").nth(1).get_by_role("link", name=re.compile("Close")).click()
    expect(page).to_have_url(f"{web_server.url}/en/table/live/real/")
