"""The network and processor cost of a table, and the stability of its layout, in real Chromium."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from games.models import Phase
from tests.browser.at_table import TABLE, a_window, deal, put
from tests.browser.test_table_sizes import SIZES
from tests.builders import a_golden_table, a_player, a_purse, a_table
from tests.harness.browser import DESKTOP, PHONE, NewContext, wait_in
from tests.harness.sweeps import sample, sweep
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, step

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

FIRST_LOAD = 200_000  # bytes over the wire, heads and all
FIRST_LOAD_SHARED = 188_000  # of which the fonts are 38,600
ROUND = 15_000
SHIFT = 0.05  # of the screen, added up over a load and a round; see web.dev/articles/cls
GOLDEN = "/en/table/golden/free/"
SHARED = "/en/table/live/real/"
MANY = 200  # elements, half of the page: an answer changes so many at once, a step of the deal never
SLOWER = 10  # times: the page is drawn while it still arrives
PHONE_LYING = {"width": 844, "height": 390}

BOXES = """() => Object.fromEntries(Array.from(document.querySelectorAll("#live button[id], #live input"), (each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [each.id, [x, y, width, height].map(Math.round)];
}))"""
# Elements moved or widened by a pixel: by a bet on every area, then by its payout, then by a returned bet.
SHIFTED_BY_BETS = """() => {
    const bet = window.bet ??= document.querySelector(".spot__bet").outerHTML;
    const look = () => Array.from(document.querySelectorAll(".spots .spot, .rail"), (each) => {
        const { x, y, width, height } = each.getBoundingClientRect();
        return { name: each.id || "rail", place: [x, y, width, height] };
    });
    const show = (html) => {
        for (const each of document.querySelectorAll(".spot .game__part")) each.innerHTML = html;
    };
    show("");
    const empty = look();
    const results = {
        bet: "",
        paid: '<span class="spot__paid num"><span class="spot__paid-label">Paid out </span>SEK 5,400.00</span>',
        returned: '<span class="spot__paid spot__paid--even num">returned</span>',
    };
    return Object.entries(results).flatMap(([result, html]) => {
        show(bet);
        for (const stake of document.querySelectorAll(".spot__stake")) stake.insertAdjacentHTML("afterend", html);
        return look().flatMap(({ name, place }, index) => {
            const before = empty[index].place;
            const isSame = place.every((each, axis) => Math.abs(each - before[axis]) < 1);
            return isSame ? [] : [`${innerWidth} × ${innerHeight}, ${result}: ${name} ${before} → ${place}`];
        });
    });
}"""
WATCH_SHIFTS = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries()) window.shifted += shift.value;
    }).observe({ type: "layout-shift", buffered: true });
"""


@dataclass
class Meter:
    """Bytes that came over the wire since it was read last."""

    received: float = 0

    def read(self) -> float:
        """Return them and begin again."""
        received, self.received = self.received, 0
        return received


def metered(window: BrowserContext) -> tuple[Page, Meter]:
    """Return a page, and a meter on its line."""
    page, meter = window.new_page(), Meter()
    line = window.new_cdp_session(page)
    line.send("Network.enable")

    def count(event: dict[str, float]) -> None:
        meter.received += event["encodedDataLength"]

    line.on("Network.loadingFinished", count)
    page.add_init_script(WATCH_SHIFTS)
    return page, meter


@dataclass
class Work:
    """The work of the page's thread: counts of a trace, which do not depend on how fast the machine is."""

    styled: list[int]  # elements of each recalculation of styles
    forced: list[str]  # functions that asked for a layout before the frame


@contextmanager
def worked(page: Page) -> Iterator[Work]:
    """Count the work of the page in the meantime."""
    browser = page.context.browser
    assert browser
    work = Work([], [])
    timeline = "disabled-by-default-devtools.timeline"
    browser.start_tracing(page=page, categories=["devtools.timeline", timeline, f"{timeline}.stack"])
    yield work
    for event in json.loads(browser.stop_tracing())["traceEvents"]:
        if event["name"] == "UpdateLayoutTree":
            work.styled.append(event["args"].get("elementCount", 0))
        elif event["name"] == "Layout" and (stack := event["args"]["beginData"].get("stackTrace")):
            work.forced.append(stack[0]["functionName"])


@pytest.fixture
def window(new_context: NewContext, web_server: WebServer) -> BrowserContext:
    """A browser that has never been here."""
    a_table()
    a_golden_table()
    return a_window(new_context, web_server, a_player(real=1_000_000, free=1_000_000))


def test_a_first_visit_to_a_table_is_light_and_a_round_lighter_still(window: BrowserContext):
    page, meter = metered(window)
    page.goto(TABLE, wait_until="networkidle")
    assert 20_000 < meter.read() < FIRST_LOAD
    put(page, "player")
    deal(page)
    page.wait_for_load_state("networkidle")
    assert 1000 < meter.read() < ROUND


@pytest.mark.sweep
def test_a_first_visit_to_a_golden_table_is_light(window: BrowserContext):
    page, meter = metered(window)
    page.goto(GOLDEN, wait_until="networkidle")
    assert 20_000 < meter.read() < FIRST_LOAD


def test_a_first_visit_to_a_shared_table_is_light(new_context: NewContext, web_server: WebServer):
    a_live_table()
    page, meter = metered(a_window(new_context, web_server, a_player(real=1_000_000)))
    page.goto(SHARED)  # its stream never ends: the line is not idle
    wait_in(page, "() => document.fonts.status === 'loaded' && document.readyState === 'complete'")
    expect(page.locator("#live-bettors ul")).to_have_count(1)  # the stream has begun
    assert 20_000 < meter.read() < FIRST_LOAD_SHARED


@pytest.mark.sweep
@pytest.mark.parametrize("screen", sweep([DESKTOP, PHONE], always=[PHONE]), ids=["desktop", "phone"])
def test_nothing_moves_under_the_finger(new_context: NewContext, web_server: WebServer, screen: dict[str, int]):
    a_table()
    window = a_window(
        new_context, web_server, a_player(real=1_000_000), viewport=screen, reduced_motion="no-preference"
    )
    page, _ = metered(window)
    slow = window.new_cdp_session(page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(TABLE, wait_until="networkidle")
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    put(page, "player")
    deal(page)
    assert page.evaluate("window.shifted") < SHIFT


@pytest.mark.parametrize(
    "screen", sweep([DESKTOP, PHONE, PHONE_LYING], always=[PHONE]), ids=["desktop", "phone", "lying"]
)
def test_nothing_moves_under_the_finger_while_a_shared_round_is_played(
    new_context: NewContext, web_server: WebServer, screen: dict[str, int]
):
    """In Romanian, whose calls are the longest."""
    live_table = a_live_table()
    window = a_window(new_context, web_server, a_player(real=1_000_000), viewport=screen)
    page, _ = metered(window)
    page.goto(SHARED.replace("/en/", "/ro/"))
    areas = page.evaluate(BOXES)
    assert step(live_table).phase == Phase.BETTING  # nobody has bet
    expect(page.locator(".live-call__note").last).to_be_visible()
    assert page.evaluate(BOXES) == areas
    page.locator("#chip-25000").check(force=True)
    for bet in ("player", "player_pair", "perfect_pair"):
        page.locator(f"#bet-{bet}").click()
        expect(page.locator(f"#bet-{bet} .spot__stake")).to_be_visible()
    page.locator(".tray__chip input").last.check(force=True)
    positions = page.evaluate(BOXES)
    page.locator("#bet-banker").click()
    expect(page.locator(".call__notice--error")).to_be_visible()
    assert page.evaluate(BOXES) == positions
    for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED, Phase.BETTING):
        assert step(live_table).phase == phase
        expect(page.locator("#live-public")).to_have_attribute("data-phase", phase)
        assert page.evaluate(BOXES) == positions
    assert page.evaluate("window.shifted") < SHIFT


@pytest.mark.parametrize("game", sample(["baccarat", "golden", "no_commission", "pairs"], 1))
def test_no_bet_area_moves_or_grows_by_a_bet_or_its_result(new_context: NewContext, web_server: WebServer, game: str):
    player, is_solo = a_player(real=1_000_000), game in ("baccarat", "golden")
    if is_solo:
        {"baccarat": a_table, "golden": a_golden_table}[game]()
        a_purse(player, 100_000)
    else:
        a_live_table(game)
    page = a_window(new_context, web_server, player).new_page()
    page.goto(f"/en/table/{game if is_solo else 'live'}/real/")
    page.locator("#chip-5000").check(force=True)
    page.locator("#bet-player").click()
    expect(page.locator("#bet-player .spot__stake")).to_be_visible()
    changed = []
    for width, height in (*SIZES, (1440, 900), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        changed += page.evaluate(SHIFTED_BY_BETS)
    assert not changed, "\n".join(changed)


def test_a_chip_and_a_deal_restyle_what_changes_and_not_the_page(new_context: NewContext, web_server: WebServer):
    a_table()
    player = a_player(real=1_000_000)
    page = a_window(new_context, web_server, player, viewport=PHONE, reduced_motion="no-preference").new_page()
    page.goto(TABLE)
    put(page, "tie")
    deal(page)  # the faces of the cards are loaded
    with worked(page) as chip:
        put(page, "player")
        expect(page.locator(".flight")).to_have_count(0)  # the last round's cards are in the tray
    with worked(page) as dealing:
        deal(page)
    assert sum(elements > MANY for elements in chip.styled) <= 3
    assert sum(elements > MANY for elements in dealing.styled) <= 4
    assert chip.forced.count("wayFrom") <= 1  # for all cards together
    assert "wayFrom" not in dealing.forced


def test_a_second_at_a_shared_table_restyles_its_clocks_alone(new_context: NewContext, web_server: WebServer):
    """A text node that is replaced would restyle all that a rule with :has() can be about, table and bar too."""
    a_live_table()
    page = a_window(new_context, web_server, a_player(real=1_000_000)).new_page()
    page.goto(SHARED)
    expect(page.locator("#live-bettors ul")).to_have_count(1)  # the stream has begun
    duration = page.locator("#play-session-duration")
    with worked(page) as second:
        for _ in range(2):
            expect(duration).not_to_have_text(duration.inner_text())
    assert second.styled, "something was styled"
    assert max(second.styled) < MANY
