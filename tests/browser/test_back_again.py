"""A page that was away shows the true state again: hidden, frozen, without a line, in the history, in another window,
with a clock that somebody has set. Nothing is staked twice.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from games.engine.chemin.steps.phases import IN_COUP
from games.models import Phase, Round
from players.models import Player
from tests.browser.at_table import TABLE, a_window, deal, put
from tests.builders import UNHURRIED_CHEMIN, a_player, a_table
from tests.chemin.at_table import (
    a_chemin_table,
    a_staked_coup,
    answer,
    answer_by_the_rule,
    asked_at,
    chemin_of,
    seated_players,
    seen_of,
)
from tests.harness.browser import NewContext, wait_in
from tests.harness.sweeps import sample
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet, make_late
from tests.live.betting import held

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 1_000_000
SHARED = "/en/table/live/real/"
CHEMIN = "/en/table/chemin/real/"

HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
# A browser whose clock was an hour ahead before the page was opened.
AHEAD = """
    const [origin, now] = [performance.timeOrigin, Date.now];
    Object.defineProperty(performance, "timeOrigin", { value: origin + 3_600_000 });
    Date.now = () => now() + 3_600_000;
"""
# A browser whose clock the test sets.
CLOCK = """
    window.truly = Date.now;
    window.ahead = 0;
    Date.now = () => truly() + ahead;
"""


@contextmanager
def hidden(page: Page) -> Iterator[None]:
    """Put another tab before this one."""
    page.evaluate(HIDE, True)
    yield
    page.evaluate(HIDE, False)


@contextmanager
def frozen(page: Page) -> Iterator[None]:
    """Stop the page, as the browser does with one that is out of sight for long."""
    page.evaluate(HIDE, True)
    line = page.context.new_cdp_session(page)
    line.send("Page.setWebLifecycleState", {"state": "frozen"})
    yield
    line.send("Page.setWebLifecycleState", {"state": "active"})
    page.evaluate(HIDE, False)


@contextmanager
def in_an_airplane(page: Page) -> Iterator[None]:
    """Cut the network off; the device knows it."""
    page.context.set_offline(True)
    yield
    page.context.set_offline(False)


Away = Callable[[Page], AbstractContextManager[None]]
WAYS: tuple[Away, ...] = (hidden, frozen, in_an_airplane)


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player(real=MONEY)


@pytest.fixture
def window(new_context: NewContext, web_server: WebServer, player: Player) -> Callable[..., BrowserContext]:
    """Open a browser of the player's; each is another device."""
    return lambda **options: a_window(new_context, web_server, player, **options)


def opened(window: BrowserContext, path: str) -> Page:
    page = window.new_page()
    page.goto(path)
    return page


@pytest.mark.parametrize("away", sample(WAYS, 1))
def test_a_solo_table_shows_what_the_player_did_elsewhere(
    window: Callable[..., BrowserContext], player: Player, away: Away
):
    a_table()
    page, phone = opened(window(), TABLE), opened(window(), TABLE)
    put(page)
    with away(page):
        phone.reload()
        deal(phone)
    expect(page.locator(".call__notice")).to_contain_text("was completed while you were away")
    for part in ("[name=round_id]", "[name=slip_version]"):
        expect(page.locator(part)).to_have_value(phone.locator(part).input_value())
    for meter in ("balance", "win"):
        expect(page.locator(f"#{meter}")).to_have_text(phone.locator(f"#{meter}").inner_text())
    page.locator("#act-deal").click()
    expect(page.locator(".call__notice")).to_contain_text("Place a bet first")
    assert Round.objects.count() == 1


@pytest.mark.parametrize("away", sample(WAYS, 1))
def test_a_shared_table_shows_the_round_and_the_time_that_are_true(
    window: Callable[..., BrowserContext], player: Player, away: Away
):
    live_table = a_live_table()
    page = opened(window(), SHARED)
    page.locator("#chip-5000").check(force=True)
    page.locator("#bet-player").click()
    expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")
    with away(page):
        advance_to(live_table, Phase.SETTLED)
        advance_to(live_table, Phase.BETTING)
        make_late(live_table, -300)
        bet(player, live_table, tie=50_00)
    expect(page.locator("#bet-tie .spot__stake")).to_contain_text("50.00")
    expect(page.locator("#bet-player .spot__stake")).to_have_count(0)
    shows_the_time_of_the_house(page)
    page.locator("#bet-tie").click()
    expect(page.locator("#bet-tie .spot__stake")).to_contain_text("100.00")
    assert held(player) == 100_00


def shows_the_time_of_the_house(page: Page) -> None:
    """Check that the countdown is within a second of the server's, which has the clock of this machine."""
    wait_in(
        page,
        """() => {
            const shown = Number(document.querySelector("#live-public [data-seconds]").innerText);
            const left = Number(document.getElementById("live-public").dataset.deadline) - (window.truly ?? Date.now)();
            return Math.abs(shown - left / 1000) <= 1;
        }""",
    )


@pytest.mark.parametrize("hours", sample([-1, 1], 1))
def test_a_clock_that_is_set_while_a_table_is_open_changes_no_countdown_and_no_time(
    window: Callable[..., BrowserContext], hours: int
):
    live_table = a_live_table()
    make_late(live_table, -300)
    context = window()
    context.add_init_script(CLOCK)
    page = opened(context, SHARED)
    expect(page.locator("#live-public [data-seconds]")).not_to_have_text("")
    before = page.locator("#play-session-duration").inner_text()
    page.evaluate("hours => { window.ahead = hours * 3_600_000 }", hours)
    expect(page.locator("#play-session-duration")).not_to_have_text(before)
    shows_the_time_of_the_house(page)
    assert page.locator("#play-session-duration").inner_text().startswith("0:0")


def test_a_solo_table_shows_how_long_the_session_has_lasted_however_far_ahead_the_browser_is(
    window: Callable[..., BrowserContext],
):
    a_table()
    context = window()
    context.add_init_script(AHEAD)
    page = opened(context, TABLE)
    before = page.locator("#play-session-duration").inner_text()
    expect(page.locator("#play-session-duration")).not_to_have_text(before)
    assert page.locator("#play-session-duration").inner_text().startswith("0:0")


@pytest.mark.sweep
@pytest.mark.parametrize("away", WAYS)
def test_a_chemin_table_shows_at_once_what_was_dealt_in_the_meantime(window: Callable[..., BrowserContext], away: Away):
    live_table = a_chemin_table(clock=UNHURRIED_CHEMIN)
    seated_players(live_table, 2)
    a_staked_coup(live_table)
    page = opened(window(reduced_motion="no-preference"), CHEMIN)
    expect(page.locator(".middle .card")).to_have_count(0)
    page.evaluate(COUNT_STEPS)
    with away(page):
        answer(asked_at(live_table), live_table, "deal_cards")
        while seen_of(live_table).phase in IN_COUP:
            answer_by_the_rule(live_table)
    expect(page.locator("#live-public")).to_have_attribute("data-move", str(chemin_of(live_table).move))
    expect(page.locator("#live-board .is-result")).to_have_count(1)
    assert page.evaluate("window.steps") == 1


# Counts how often the number of cards on the table has changed.
COUNT_STEPS = """() => {
    window.steps = 0;
    let cards = 0;
    new MutationObserver(() => {
        const now = document.querySelectorAll(".middle .card").length;
        if (now !== cards) window.steps += 1;
        cards = now;
    }).observe(document.querySelector("main"), { subtree: true, childList: true });
}"""


def test_the_way_back_through_the_history_shows_what_is_true(window: Callable[..., BrowserContext], player: Player):
    """From the cache of the browser too, which keeps the page as it was left."""
    live_table = a_live_table()
    a_table()
    page = opened(window(), TABLE)
    page.goto("/en/history/")
    put(opened(window(), TABLE))
    page.go_back()
    expect(page.locator("[name=slip_version]")).to_have_value("1")
    expect(page.locator("#bet-tie .spot__stake")).to_contain_text("10.00")
    page.goto(SHARED)
    page.goto("/en/history/")
    bet(player, live_table, tie=50_00)
    page.go_back()
    expect(page).to_have_url(re.compile(SHARED))
    expect(page.locator("#bet-tie .spot__stake")).to_contain_text("50.00")


@pytest.mark.sweep
def test_two_windows_at_one_table_show_the_same_at_once(window: Callable[..., BrowserContext]):
    a_live_table()
    a_table()
    context = window()
    one, two = context.new_page(), context.new_page()
    for address, chip in ((TABLE, 10_00), (SHARED, 50_00)):
        for page in (one, two):
            page.goto(address)
        one.locator(f"#chip-{chip}").check(force=True)
        one.locator("#bet-tie").click()
        for page in (one, two):
            expect(page.locator("#bet-tie .spot__stake")).to_contain_text(f"{chip / 100:.2f}")
        two.locator("#act-undo").click()
        for page in (one, two):
            expect(page.locator("#bet-tie .spot__stake")).to_have_count(0)


def test_an_event_about_others_in_between_does_not_hide_the_own_bet(
    window: Callable[..., BrowserContext], player: Player
) -> None:
    """The state that a page loads after a bet in the player's other window arrives after an event about others."""
    live_table = a_live_table()
    context = window()
    one, two = opened(context, SHARED), opened(context, SHARED)
    held_back: list[Route] = []

    def hold(route: Route) -> None:
        held_back.append(route)

    two.route("**/table/live/real/now/**", hold)
    one.locator("#chip-5000").check(force=True)
    one.locator("#bet-tie").click()
    expect(two.locator("#live-bettors")).to_contain_text("50")  # by the stream, while the state is on its way
    bet(a_player(real=MONEY), live_table, player=250_00)
    expect(two.locator("#live-bettors")).to_contain_text("250")
    held_back.pop(0).continue_()
    expect(two.locator("#bet-tie .spot__stake")).to_contain_text("50.00")
