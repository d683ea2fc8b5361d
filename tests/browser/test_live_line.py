"""The connection of a page to a shared table: after a cut, a block or a hidden tab, the page shows the true state."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from games.models import LiveTable, Phase
from games.shared.pages import stream_tokens
from players.login import sessions
from players.models import Ended, Player
from tests.browser.at_table import a_window
from tests.builders import a_player
from tests.harness.browser import NewContext, wait_in
from tests.harness.databases import Database
from tests.harness.sweeps import sample
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet, make_late
from tests.live.talk import a_talker, say

PAGE = "/en/table/live/real/"
STREAM = re.compile(f"://[^/]+{stream_tokens.PATH}")
HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


COUNT_MISSED = "window.missed = 0; document.addEventListener('live:missed', () => { window.missed += 1; });"


@pytest.fixture
def live_table(cloned_db: Database) -> LiveTable:
    """A shared table that takes bets, and at which somebody has bet."""
    made = a_live_table(slug="live")
    bet(a_player(real=100_00), made, banker=50_00)
    return made


@pytest.fixture
def player(live_table: LiveTable) -> Player:
    """Somebody who comes to the table."""
    return a_player(real=1000_00)


@pytest.fixture
def window(new_context: NewContext, web_server: WebServer, player: Player) -> BrowserContext:
    """Their browser."""
    return a_window(new_context, web_server, player)


@contextmanager
def asked_in(page: Page) -> Iterator[list[str]]:
    """The requests of the page in the meantime: "stream" and "state"."""
    asked: list[str] = []

    def note(address: str) -> None:
        if STREAM.search(address):
            asked.append("stream")
        elif (page.locator("#live").get_attribute("data-reload") or "?") in address:
            asked.append("state")

    page.on("request", lambda request: addresses.append(request.url))
    addresses: list[str] = []
    yield asked
    for address in addresses:
        note(address)


def is_notified_of_the_end(page: Page, player: Player) -> None:
    """End the session from elsewhere, and check that the page says so by itself."""
    sessions.end_all(user=player.user, why=Ended.ELSEWHERE, by=str(player))
    expect(page.locator("#session-over")).to_be_visible()


def shows(page: Page, phase: Phase) -> None:
    expect(page.locator("#live-public")).to_have_attribute("data-phase", phase.value)


@pytest.mark.sweep
def test_where_no_stream_gets_through_the_page_asks_and_shows_the_table_as_it_goes(
    window: BrowserContext, player: Player, live_table: LiveTable
) -> None:
    page = window.new_page()
    page.route(STREAM, lambda route: route.abort())
    page.goto(PAGE)
    shows(page, Phase.BETTING)
    empty = page.locator("#live-board").get_attribute("data-key") or ""
    page.locator("#chip-5000").check(force=True)
    page.locator("#bet-player").click()
    expect(page.locator(".meter--bet")).to_contain_text("50.00")
    for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED):
        advance_to(live_table, phase)
        shows(page, phase)
    expect(page.locator("#live-board")).not_to_have_attribute("data-key", empty)
    expect(page.locator("#live-lost")).to_be_empty()
    expect(page.locator(".live-mine__last")).to_be_visible()
    is_notified_of_the_end(page, player)


def test_who_had_bet_is_forgotten_with_the_round_where_no_stream_says_who_bets_now(
    window: BrowserContext, live_table: LiveTable
) -> None:
    page = window.new_page()
    page.goto(PAGE)
    expect(page.locator("li.bettor")).to_have_count(1)
    expect(page.locator(".spot__share")).to_have_count(1)
    page.evaluate(HIDE, True)
    page.route(STREAM, lambda route: route.abort())
    before = page.locator("#live-public").get_attribute("data-round") or ""
    advance_to(live_table, Phase.SETTLED)
    advance_to(live_table, Phase.BETTING)
    page.evaluate(HIDE, False)
    expect(page.locator("#live-public")).not_to_have_attribute("data-round", before)
    expect(page.locator(".bettor")).to_have_count(0)
    expect(page.locator(".spot__share")).to_have_count(0)


@pytest.mark.parametrize("hours", sample([-1, 1], 1))
def test_the_countdown_follows_the_clock_of_the_house_however_wrong_that_of_the_browser_is(
    window: BrowserContext, live_table: LiveTable, hours: int
) -> None:
    make_late(live_table, -300)
    page = window.new_page()
    page.add_init_script(f"const now = Date.now; Date.now = () => now() + {hours} * 3_600_000")
    page.goto(PAGE)
    countdown = page.locator("#live-public [data-seconds]")
    expect(countdown).not_to_have_text(countdown.inner_text())  # it runs
    assert 200 < int(countdown.inner_text()) < 300


@pytest.mark.sweep
def test_gli19_2_6_4_a_page_that_was_hidden_or_lost_its_line_comes_back_to_what_is_true(
    window: BrowserContext, player: Player, live_table: LiveTable
) -> None:
    page = window.new_page()
    page.add_init_script(COUNT_MISSED)
    page.goto(PAGE)
    chip = page.locator("[name=chip]").nth(2)
    chip.check(force=True)
    page.locator("#bet-tie").focus()

    advance_to(live_table, Phase.CLOSED)
    shows(page, Phase.CLOSED)
    expect(page.locator("#bet-tie")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#bet-tie")).to_be_focused()
    expect(chip).to_be_checked()

    page.evaluate(HIDE, True)
    page.evaluate("window.missed = 0")
    advance_to(live_table, Phase.DEALT)
    with asked_in(page) as asked:
        page.evaluate(HIDE, False)
        shows(page, Phase.DEALT)
        advance_to(live_table, Phase.SETTLED)
        shows(page, Phase.SETTLED)
    assert asked[:2] == ["state", "stream"]
    wait_in(page, "() => window.missed > 0")  # a message sent in the meantime

    window.set_offline(True)
    expect(page.locator("#live-lost")).to_contain_text("Accepted bets remain valid")
    advance_to(live_table, Phase.BETTING)
    say(live_table, "Anybody still there?", a_talker("Bert"))
    window.set_offline(False)
    shows(page, Phase.BETTING)
    expect(page.locator("#live-lost")).to_be_empty()
    expect(page.locator("#chat-log")).to_contain_text("Anybody still there?")
    left = int(page.locator("#live-public [data-seconds]").inner_text())
    assert 0 < left <= 600
    is_notified_of_the_end(page, player)
