"""Feedback of a table: chips, the order and the turning of cards, refusals, the light of a win."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from playwright.sync_api import Page, Route, expect

from games.engine.cards import Card
from games.engine.coup import Outcome
from games.engine.coup import deal as coup_of
from games.models import LiveTable, Phase, SoloSeat, Table
from players.models import Player
from tests.browser.at_table import ADDED, TABLE, a_window, deal, put, windows_without_complaint, without_chance
from tests.browser.test_live import turn_up_everything
from tests.builders import UNHURRIED_CHEMIN, a_player, a_table
from tests.chemin.at_table import a_chemin_table, asked_at, seated_players
from tests.harness.browser import PHONE, NewContext, wait_in
from tests.harness.dealer import first, seeds_drawn
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, round_at, slip_of, step
from tests.servers.search import seed_where

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

NUMBERS = count(1)  # of shared tables
TEN = 10
SIX_CARDS = seed_where(lambda coup: len(coup.cards) == 6 and coup.outcome is Outcome.BANKER, player_values=ADDED)

# Watches which cards are animated, when, and over which way: each animation with its card, start and first place.
WATCH_CARDS = """() => {
    window.moves = [];
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames, options) {
        if (this.matches(".card, .slot--down") && !options.pseudoElement)
            moves.push({ order: Number(this.dataset.due), down: this.matches(".slot--down"),
                         hand: this.closest(".hand")?.className, from: frames[0].translate ?? "" });
        return animate.call(this, frames, options);
    };
}"""
# Collects what totals, call and lit areas tell while a card is still on its way or being turned.
WATCH_EARLY_RESULTS = """() => {
    window.early = [];
    const told = () => Array.from(document.querySelectorAll(".hand__score, .live-call__what, .spot--won .spot__name"),
        (each) => each.textContent).join(" | ");
    const isTurning = ({ effect }) =>
        effect.target.closest(".card") && (effect.getComputedTiming().progress ?? 1) < 0.9;
    let before = told();
    new MutationObserver(() => {
        const now = told();
        if (now !== before && document.querySelector(".live-stage").getAnimations({ subtree: true }).some(isTurning))
            early.push(now);
        before = now;
    }).observe(document.getElementById("live"), { attributes: true, childList: true, subtree: true });
}"""
# Returns the hands and bet areas that lie, in part, under the offer to squeeze.
COVERED_CARDS = """() => {
    const offer = document.querySelector(".squeeze-offer").getBoundingClientRect();
    const needed = document.querySelectorAll(".live-stage .hand__cards, .live-call, #bet-player");
    return Array.from(needed).flatMap((each) => {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        const isClear = right <= offer.left || left >= offer.right || bottom <= offer.top || top >= offer.bottom;
        return isClear ? [] : [each.id || each.className];
    });
}"""
# Counts the cards that are on their way when the answer has just been read.
FIRST_CARDS = """() => document.addEventListener("htmx:afterRequest", () => {
    window.firstCards = document.querySelectorAll("#stage .card.is-due").length;
}, { once: true })"""
# Counts the events of htmx by type.
COUNT_EVENTS = """() => {
    window.events = {};
    const dispatch = EventTarget.prototype.dispatchEvent;
    EventTarget.prototype.dispatchEvent = function (event) {
        if (event.type.startsWith("htmx:")) events[event.type] = (events[event.type] ?? 0) + 1;
        return dispatch.call(this, event);
    };
}"""
POSITIONS = """() => Array.from(document.querySelectorAll(".spot, .tray__chip, .acts .button"), (each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [x, y, width, height].map(Math.round).join();
})"""


@pytest.fixture
def new_context(new_context: NewContext) -> NewContext:
    """Browsers that add a fixed value to the chosen seed."""
    return without_chance(new_context)


@pytest.fixture(scope="module")
def table(server_of_module: WebServer) -> Table:
    """The solo table of all tests here."""
    return a_table()


@pytest.fixture
def web_server(kept_server: WebServer, table: Table) -> WebServer:
    return kept_server


@pytest.fixture
def live_table(web_server: WebServer) -> LiveTable:
    """A separate shared table for the test."""
    return a_live_table(slug=f"live-{next(NUMBERS)}")


@pytest.fixture
def shared(live_table: LiveTable) -> str:
    """The address of the shared table."""
    return f"/en/table/{live_table.table.slug}/real/"


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player(real=1_000_000)


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Callable[..., Page]]:
    """Open a window with animations, logged in, and fail on any error that the browser reported."""
    with windows_without_complaint(new_context, web_server, player, reduced_motion="no-preference") as open_page:
        yield open_page


def tap(page: Page, selector: str, times: int) -> None:
    """Tap with a finger, as fast as the browser takes it."""
    box = page.locator(selector).bounding_box()
    assert box
    for _ in range(times):
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


# A device with one network voice and one local voice.
VOICES = """
    window.spoken = [];
    const Utterance = class { constructor(text) { this.text = text; } };
    Object.defineProperty(window, "SpeechSynthesisUtterance", { value: Utterance });
    Object.defineProperty(window, "speechSynthesis", { value: {
        getVoices: () => [{ lang: "en-US", localService: false }, { lang: "en-GB", localService: true }],
        cancel() {},
        speak: ({ text, voice }) => spoken.push([text, voice.lang]),
    } });
"""


def test_an_answer_replaces_only_what_it_changes_and_the_focus_stays(enter):
    """Parts that stay the same cost the browser no style and no layout before the first card."""
    page = enter()
    page.goto(TABLE)
    page.evaluate("() => { window.parts = document.querySelectorAll('#now-banker, #now-tie, #check-slot'); }")
    put(page, "player")
    assert page.evaluate("Array.from(parts, (part) => part.isConnected)") == [True] * 3
    page.locator("#act-deal").press("Enter")
    expect(page.locator("#game")).to_have_attribute("data-shown", "9")
    expect(page.locator("#act-deal")).to_be_focused()


def test_htmx_swaps_the_answer_to_no_click_and_the_focus_stays(enter, shared, new_context, web_server):
    """It would send two events for each element that leaves, several hundred for a chip at a shared table."""
    chemin = a_chemin_table(clock=UNHURRIED_CHEMIN)
    seated_players(chemin, 2)
    asked = a_window(new_context, web_server, asked_at(chemin)).new_page()
    asked.goto("/en/table/chemin/real/")
    table, solo = enter(), enter()
    table.goto(shared)
    table.locator("#chip-5000").check(force=True)
    solo.goto(TABLE)
    question = asked.locator("[name=question]").first.input_value()
    for page, button in ((solo, "#bet-tie"), (table, "#bet-tie"), (asked, "#act-pass")):
        page.evaluate(COUNT_EVENTS)
        page.locator(button).focus()
        page.keyboard.press("Enter")
        wait_in(page, "() => window.events['htmx:afterRequest']")
        swapped = page.evaluate("Object.keys(events).filter((type) => /swap|settle|cleanup/i.test(type))")
        assert swapped == ["htmx:beforeSwap", "htmx:before-swap"], button
    for page in (solo, table):
        expect(page.locator("#bet-tie .spot__bet--open .spot__sums")).to_have_count(1)
        expect(page.locator("#bet-tie")).to_be_focused()
    expect(asked.locator(f"[name=question][value='{question}']")).to_have_count(0)


def test_cards_come_from_the_shoe_in_dealing_order_and_with_sound_on_the_croupier_speaks(enter):
    """By a voice of the device. Cards, totals, result and lights leave when the next bet is laid."""
    page = enter()
    page.add_init_script(VOICES)
    with seeds_drawn(first(SIX_CARDS)):  # the round that the page opens is won by Banker in six cards
        page.goto(TABLE)
    put(page, "banker")
    page.evaluate(WATCH_CARDS)
    page.evaluate(FIRST_CARDS)
    deal(page)
    assert page.evaluate("firstCards") == 1, "no pause before the first card: it comes with the answer"
    moves = page.evaluate("moves")
    assert [move["order"] for move in moves] == [1, 2, 3, 4, 5, 6]
    assert all(float(move["from"].split("px")[0]) > 0 for move in moves), "the shoe is on the right of every card"
    expect(page.locator("#stage .card")).to_have_count(6)
    said = page.locator("#spoken p").count()
    put(page, "tie")
    expect(page.locator("#stage .card, .hand__score, .hand__won, .spot__lit, .call__result")).to_have_count(0)
    assert page.locator("#spoken p").all_inner_texts()[said:] == ["Bet SEK\xa010.00"], "nothing else is said"
    assert page.evaluate("spoken") == []
    page.locator("#sound").click()
    deal(page)
    spoken = page.evaluate("spoken")
    assert 2 <= len(spoken) <= 3
    assert {voice for _, voice in spoken} == {"en-GB"}
    assert spoken[-1][0] == page.locator(".call__result").inner_text()
    page.reload()
    expect(page.locator(".call__result")).to_be_visible()
    page.locator("#act-rebet").click()
    expect(page.locator("#stage .card, .call__result")).to_have_count(0)
    expect(page.locator("#call")).to_have_text("Choose a chip, put it on a bet, then deal.")
    page.reload()
    expect(page.locator("#stage .card, .call__result")).to_have_count(0)


def test_each_value_of_a_bet_has_a_pile_and_undo_takes_chips_back_as_they_were_laid(enter, player):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    for chip, bet in ((500_00, "player"), (10_00, "player"), (10_00, "player"), (50_00, "tie")):
        page.locator(f"#chip-{chip}").check(force=True)
        put(page, bet)
    piles = page.locator("#bet-player .stack .chip")
    assert piles.all_inner_texts() == ["500", "10"]
    boxes = [pile.bounding_box() for pile in piles.all()]
    assert boxes[1]["x"] - boxes[0]["x"] > boxes[0]["width"] / 2, "most of the larger chip is in sight"
    expect(piles.nth(1)).to_have_class("chip chip--4 chip--x2")
    left = []
    for _ in range(4):
        version = page.locator("[name=slip_version]").input_value()
        page.locator("#act-undo").click()
        expect(page.locator("[name=slip_version]")).not_to_have_value(version)
        left.append(SoloSeat.objects.get(player=player).slip)
    assert left == [{"player": 520_00}, {"player": 510_00}, {"player": 500_00}, {}]


def test_a_refused_chip_goes_back_to_the_tray_with_the_reason_and_ten_quick_taps_are_ten_chips(enter, player):
    """Nothing moves under the finger, and nothing is zoomed."""
    page = enter(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(TABLE)
    page.locator("[name=chip]").last.check(force=True)
    positions = page.evaluate(POSITIONS)
    page.evaluate(
        """() => { window.flown = 0; new MutationObserver((all) => { for (const { addedNodes } of all)
            for (const node of addedNodes) flown += node.classList?.contains("flight--refused") ?? 0;
        }).observe(document.body, { childList: true }); }"""
    )
    page.locator("#bet-tie").click()
    expect(page.locator(".call__notice--error")).to_be_visible()
    assert page.evaluate("flown") == 1
    assert page.evaluate(POSITIONS) == positions
    expect(page.locator("#bet-tie .chip")).to_have_count(0)
    expect(page.locator(".flight")).to_have_count(0)
    page.locator("[name=chip]").first.check(force=True)
    tap(page, "#bet-tie", TEN)
    expect(page.locator("#bet-tie .spot__stake")).to_contain_text("100.00")
    assert SoloSeat.objects.get(player=player).slip == {"tie": TEN * 10_00}
    assert page.evaluate("visualViewport.scale") == 1


def test_a_chip_is_on_its_area_before_the_house_answers_and_in_place_of_the_last_bet(
    new_context: NewContext, web_server: WebServer, player: Player
):
    page = a_window(new_context, web_server, player).new_page()
    page.goto(TABLE)
    put(page, "tie")
    deal(page)
    last = page.locator("#bet-tie .spot__bet").first
    expect(last).to_contain_text("10.00")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/play/", hold)
    page.locator("#chip-5000").check(force=True)
    page.locator("#bet-tie").click()
    expect(page.locator("#bet-tie .chip:visible")).to_have_text(["50"])
    expect(last).to_be_hidden()
    held[0].fulfill(status=503)
    expect(last).to_be_visible()
    expect(page.locator("#bet-tie .chip:visible")).to_have_text(["10"])


def test_a_mouse_drags_a_chip_to_a_bet(enter, player):
    page = enter()
    page.goto(TABLE)
    chip, spot = page.locator(".tray__chip").nth(1), page.locator("#bet-player")
    chip.hover()
    expect(page.locator("html.drags")).to_have_count(1)  # its script is there
    page.mouse.down()
    spot.hover(force=True)
    expect(spot).to_have_class("spot spot--over")
    page.mouse.up()
    expect(spot.locator(".spot__stake")).to_contain_text("50.00")
    assert SoloSeat.objects.get(player=player).slip == {"player": 50_00}
    expect(page.locator(".flight")).to_have_count(0)


def test_right_click_finger_and_key_take_a_chip_off_at_a_table_without_a_button_for_it(enter, player):
    """A finger rests on the bet or wipes across it. UNDO lays the chip again; a bet of the last round is left alone."""
    page = enter(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(TABLE)
    bet = page.locator("#bet-player")
    tap(page, "#bet-player", 4)
    left_on(page, player, 40)
    bet.click(button="right")
    left_on(page, player, 30)
    box = bet.bounding_box()
    assert box
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    finger = page.context.new_cdp_session(page)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    left_on(page, player, 20)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    aside = {**place, "x": place["x"] + box["width"] / 3}
    finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [aside]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    left_on(page, player, 10)
    bet.press("Delete")
    left_on(page, player, 0)
    bet.press("Shift+Enter")  # of a bet that is gone: it lays no chip
    page.locator("#act-undo").click()
    left_on(page, player, 10)
    deal(page)
    bet.click(button="right")
    bet.press("Delete")
    put(page, "tie")
    assert SoloSeat.objects.get(player=player).slip_version == 1, "only the chip on Tie was sent"


def test_two_chips_taken_off_quickly_are_those_of_the_bets_they_were_on(enter, player):
    """The second click waits until the first is answered."""
    page = enter()
    page.goto(TABLE)
    for name in ("player", "tie"):
        put(page, name)
        put(page, name)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/play/", hold, times=1)
    page.locator("#bet-player").click(button="right")
    page.locator("#bet-tie").click(button="right")
    held[0].continue_()
    expect(page.locator("#bet-tie .spot__stake")).to_contain_text("10.00")
    assert SoloSeat.objects.get(player=player).slip == {"player": 10_00, "tie": 10_00}


def left_on(page: Page, player: Player, amount: int) -> None:
    """Check what is left on the bet on Player, on the page and in the house."""
    stake = page.locator("#bet-player .spot__stake")
    if amount:
        expect(stake).to_contain_text(f"{amount}.00")
    else:
        expect(stake).to_have_count(0)
    assert SoloSeat.objects.get(player=player).slip == ({"player": amount * 100} if amount else {})


def test_ten_quick_taps_are_ten_chips_at_a_shared_table_and_a_resting_finger_takes_one_off(
    enter, player, live_table, shared
):
    """So does a right click. Money is deposited over the table."""
    page = enter(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(shared)
    page.locator("#chip-5000").check(force=True)
    bet = page.locator("#bet-player")
    tap(page, "#bet-player", TEN)
    expect(bet.locator(".spot__stake")).to_contain_text("500.00")
    assert slip_of(player, round_at(live_table)) == {"player": TEN * 50_00}
    assert page.evaluate("visualViewport.scale") == 1
    expect(page.get_by_role("link", name="Deposit").locator("visible=true").first).to_be_in_viewport()
    bet.click(button="right")
    expect(bet.locator(".spot__stake")).to_contain_text("450.00")
    box = bet.bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    finger = page.context.new_cdp_session(page)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    expect(bet.locator(".spot__stake")).to_contain_text("400.00")
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    for left in range(TEN - 3, -1, -1):
        bet.press("Delete")
        if left:
            expect(bet.locator(".spot__stake")).to_contain_text(f"{left * 50}.00")
    expect(bet.locator(".spot__bet")).to_have_count(0)
    assert slip_of(player, round_at(live_table)) == {}
    page.locator(".live-rail [data-deposit]").click()
    expect(page.locator("#live-sheet")).to_be_hidden()
    sheet = page.locator("#deposit-sheet")
    expect(sheet.get_by_role("group", name="Deposit at once").get_by_role("button").first).to_be_visible()
    expect(sheet.locator("[name=next]")).to_have_value(shared)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_a_small_chip_is_dim_a_clock_that_begins_again_says_why_and_the_squeeze_is_offered_once(
    enter, live_table, shared
):
    """The chip is too small for a main bet; the squeeze is offered when the first bets are closed."""
    page = enter()
    page.goto(shared)
    page.locator("#chip-1000").check(force=True)
    expect(page.locator("#bet-player")).to_have_attribute("data-refuses", "")
    expect(page.locator(".tray__chip--small")).to_have_count(1)
    expect(page.locator("#bet-perfect_pair")).not_to_have_attribute("data-refuses", "")
    page.locator("#chip-5000").check(force=True)
    expect(page.locator("#bet-player")).not_to_have_attribute("data-refuses", "")
    deadline = page.locator("#live-public").get_attribute("data-deadline")
    assert step(live_table).phase == Phase.BETTING
    wait_in(page, "before => document.getElementById('live-public').dataset.deadline !== before", deadline)
    expect(page.locator(".live-call__note").last).to_have_text("Nobody has bet yet, so betting stays open.")
    expect(page.locator("#spoken")).to_contain_text("Nobody has bet yet")
    page.locator("#bet-player").click()
    expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")
    expect(page.locator(".squeeze-offer")).to_have_count(0)
    assert step(live_table).phase == Phase.CLOSED
    expect(page.locator(".squeeze-offer")).to_be_visible()
    for width, height in ((1280, 800), (844, 390), (390, 844), (360, 640)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(COVERED_CARDS) == [], (width, height)
    page.get_by_role("button", name="Squeeze the cards").click()
    assert page.evaluate("localStorage.getItem('sabot.squeeze')") == "on"
    expect(page.locator(".squeeze-offer")).to_have_count(0)


def test_shared_cards_lie_face_down_in_dealing_order_turn_and_light_the_winner_for_everybody(
    new_context: NewContext, web_server: WebServer, player: Player, live_table: LiveTable, shared: str
):
    watcher = a_player(real=1_000_000)
    with (
        windows_without_complaint(new_context, web_server, player, reduced_motion="no-preference") as open_one,
        windows_without_complaint(new_context, web_server, watcher) as open_other,
    ):
        page, other = open_one(), open_other()
        for each in (page, other):
            each.goto(shared)
        page.locator("#chip-5000").check(force=True)
        page.locator("#bet-player").click()
        expect(page.locator("#bet-player .spot__stake")).to_be_visible()
        page.evaluate(WATCH_CARDS)
        step(live_table)
        expect(page.locator(".slot--down")).to_have_count(4)
        page.get_by_role("button", name="No, thanks").click()
        laid = [move for move in page.evaluate("moves") if move["down"]]
        assert ["player" in move["hand"] for move in laid] == [True, False, True, False]
        assert page.locator("#live-public").get_attribute("data-won") is None
        page.evaluate(WATCH_EARLY_RESULTS)
        step(live_table)
        expect(page.locator(".live-stage .card")).to_have_count(1)
        expect(page.locator(".hand__score")).to_have_count(1)
        turn_up_everything(live_table)
        outcome = outcome_of(live_table)
        for each in (page, other):
            expect(each.locator(f"#bet-{outcome}.spot--won")).to_be_visible()
        expect(page.locator(".hand--wins" if outcome != "tie" else ".live-call__what--tie")).to_have_count(1)
        assert page.evaluate("early") == [], "no total and no result before its card has turned"
        assert not page.evaluate("moves.filter(move => !move.down && move.order < 5 && move.from).length")
        assert step(live_table).phase == Phase.BETTING
        for each in (page, other):
            expect(each.locator(".spot--won, .live-stage .card")).to_have_count(0)


def outcome_of(live_table: LiveTable) -> str:
    """Return the code of the main bet that the round pays."""
    return coup_of([Card.parse(code) for code in round_at(live_table).cards.split()]).outcome.value


@pytest.mark.sweep
def test_a_visitor_chooses_a_felt_and_keeps_it(page: Page, web_server: WebServer):
    page.goto(f"{web_server.url}/en/")
    page.locator(".bar [data-opens=preferences]").click()
    page.get_by_role("group", name="Felt").get_by_text("Burgundy").click()
    expect(page.locator("html")).to_have_attribute("data-cloth", "burgundy")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-cloth", "burgundy")
