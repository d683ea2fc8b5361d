"""A round takes a minimum time and its own click; time and net result stay in view. In real Chromium."""

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from games.models import Participation, SoloSeat, Table
from tests.browser.at_table import put, windows_without_complaint
from tests.builders import a_player, a_table
from tests.chemin.at_table import a_chemin_table
from tests.harness.browser import DESKTOP, PHONE
from tests.harness.sweeps import drawn, sample
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table

pytestmark = pytest.mark.browser

MONEY = 1_000_000
SMALL: ViewportSize = {"width": 320, "height": 640}
SIDEWAYS: ViewportSize = {"width": 844, "height": 390}
ANY = re.compile(".*")
# Notes when each step of a deal is shown, from the press on.
TIMES = """() => {
    window.shown = {};
    new MutationObserver(() => { shown[document.getElementById('game').dataset.shown] ??= performance.now(); })
        .observe(document.getElementById('game'), { attributes: true, attributeFilter: ['data-shown'] });
}"""


@pytest.fixture(scope="module")
def tables(server_of_module: WebServer) -> tuple[Table, ...]:
    """Two solo tables and two others, for all tests here."""
    return a_table(), a_table("other"), a_live_table().table, a_chemin_table(currency="GBP").table


@pytest.fixture
def web_server(kept_server: WebServer, tables: tuple[Table, ...]) -> WebServer:
    return kept_server


@pytest.mark.parametrize("motion", sample(["no-preference", "reduce"], 1))
def test_where_the_law_forbids_it_nothing_hurries_a_result_and_the_next_round_waits(
    new_context, web_server: WebServer, motion
):
    player = a_player("GB", real=MONEY)
    with windows_without_complaint(new_context, web_server, player, reduced_motion=motion) as open_page:
        page = open_page()
        page.goto("/en/table/baccarat/real/")
        put(page)
        page.evaluate(TIMES)
        page.locator("#act-deal").click()
        expect(page.locator("#game")).to_have_attribute("data-shown", re.compile("[1-9]"))
        page.locator("#stage").click(force=True)
        page.keyboard.press("d")
        expect(page.locator("#game")).to_have_attribute("data-shown", "9")
        shown = page.evaluate("shown")
        assert shown["9"] - shown["1"] > 2000, "milliseconds from the first card to the money"

        deal = page.locator("#act-rebet_deal")
        expect(deal).to_have_attribute("aria-disabled", "true")
        expect(deal).to_have_attribute("data-left", re.compile("^[1-4]$"))
        said = page.locator("#spoken p", has_text="You can start the next game in a few seconds.")
        for _ in range(2):
            deal.click(force=True)
        expect(said).to_have_count(1)
        expect(deal).not_to_have_attribute("data-left", ANY, timeout=10_000)
        expect(deal).not_to_have_attribute("aria-disabled", ANY)
        assert Participation.objects.filter(player=player).count() == 1, "no press is kept for later"
        expect(page.locator(".call__notice")).to_have_count(0)
        seat = SoloSeat.objects.get(player=player)
        deal.click()
        expect(page.locator("[name=round_id]")).not_to_have_value(str(seat.round_id))
        assert Participation.objects.filter(player=player).count() == 2


def test_a_deal_in_another_tab_shows_a_wait_and_no_error(new_context, web_server: WebServer):
    player = a_player("GB", real=MONEY)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page, other = open_page(), open_page()
        for each, slug in ((page, "baccarat"), (other, "other")):
            each.goto(f"/en/table/{slug}/real/")
            put(each)
        page.locator("#act-deal").click()
        expect(page.locator("#act-rebet_deal")).to_have_attribute("data-left", ANY)
        other.locator("#act-deal").click()
        notice = other.locator(".call__notice--info")
        expect(notice).to_contain_text("The next game can start in")
        expect(other.locator(".call__notice--error")).to_have_count(0)
        expect(other.locator("#act-deal")).to_have_attribute("data-left", ANY)
        expect(notice).to_have_count(0, timeout=10_000)
        expect(other.locator("#act-deal")).not_to_have_attribute("aria-disabled", ANY)
        assert Participation.objects.filter(player=player).count() == 1


def test_a_key_that_is_held_down_plays_one_round(new_context, web_server: WebServer):
    player = a_player(real=MONEY)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page()
        page.goto("/en/table/baccarat/real/")
        put(page)
        page.locator("#act-deal").click()
        expect(page.locator("#game:not(.game--busy)")).to_have_attribute("data-shown", "9")
        page.locator("#act-rebet_deal").focus()
        page.keyboard.down("Enter")
        for number in (2, 3):
            expect(page.locator("#game:not(.game--busy)")).to_have_attribute("data-shown", "9")
            assert Participation.objects.filter(player=player).count() == 2, number
            page.locator("#act-rebet_deal").focus()
            page.keyboard.down("Enter")  # as a key repeats
        seat = SoloSeat.objects.get(player=player)
        page.keyboard.up("Enter")
        page.keyboard.press("Enter")
        expect(page.locator("[name=round_id]")).not_to_have_value(str(seat.round_id))
        assert Participation.objects.filter(player=player).count() == 3


TABLES = ("baccarat", "live", "chemin")
PARTS = ("#play-session-clock", "#play-session-duration", "#play-session-net")
IS_ON_TOP = """it => {
    const { x, y, width, height } = it.getBoundingClientRect();
    return it.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""


def time_and_net_result_are_in_view(page: Page) -> None:
    """At both ends of the page, with nothing over them, and nothing cut off at the side."""
    for place in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo({{ top: {place}, behavior: 'instant' }})")
        for part in PARTS:
            expect(page.locator(part)).to_be_in_viewport(ratio=1)
        assert page.locator("#play-session-duration").evaluate(IS_ON_TOP), "something covers it"
    expect(page.locator("#play-session-duration")).to_have_text(re.compile(r"^0:\d\d:\d\d$"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url


@pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de", "en"], 1))
def test_time_and_net_result_stay_in_view_at_every_table_and_in_full_screen(
    new_context, web_server: WebServer, language, is_sweep: bool
):
    """The browser can fill the screen with the page only: no table offers full screen for one part. `make test` checks
    another table each day.
    """
    player = a_player("GB", real=MONEY)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = open_page()
        for slug in TABLES if is_sweep else drawn(TABLES, 1):
            page.goto(f"/{language}/table/{slug}/real/")
            for size in (SMALL, PHONE, SIDEWAYS, DESKTOP):
                page.set_viewport_size(size)
                time_and_net_result_are_in_view(page)
            assert page.locator("video, iframe, [allowfullscreen]").count() == 0, "nothing fills the screen by itself"
            page.evaluate("onclick = () => document.documentElement.requestFullscreen()")
            for size in (DESKTOP, SMALL):
                page.set_viewport_size(size)
                page.mouse.click(1, 1)
                expect(page.locator("html:fullscreen")).to_have_count(1)
                time_and_net_result_are_in_view(page)
                page.evaluate("document.exitFullscreen()")
