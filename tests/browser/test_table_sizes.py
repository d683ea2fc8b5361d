"""All that is needed to play is in one view, at every common size, with long words and amounts too."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from games.betting.limits import StoredLimits
from games.engine.chemin import Call
from games.engine.chemin.steps.phases import IN_COUP
from games.models import LiveTable
from games.tables.default_tables import baccarat_limits, golden_limits
from players.models import Player
from tests.browser.at_table import a_window, deal, windows_without_complaint
from tests.builders import UNHURRIED_CHEMIN, a_golden_table, a_player, a_purse, a_seat, a_table
from tests.chemin.at_table import (
    a_chemin_table,
    answer,
    answer_by_the_rule,
    asked,
    asked_at,
    chemin_of,
    finish_cut,
    seated_players,
    seen_of,
    take_bank,
)
from tests.harness.browser import NewContext
from tests.harness.sweeps import LANGUAGES, LONGEST_LANGUAGE, sample, sweep
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table
from wallet.ledger import purse
from wallet.models import Mode

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

LARGEST = 100_000_00  # minor units: RON 100,000.00 on a bet, ten times what the shipped tables allow
MONEY = 900_000_00
PURSE = 500_000_00
SIZES = (
    (390, 844),
    (768, 1024),
    (1280, 800),
    (1024, 768),
    (1366, 768),
    (1280, 720),
    (390, 664),  # a phone with the browser's own bars
    (844, 390),
    (667, 375),
    (360, 640),
    (320, 640),
)

# Elements needed to play that are not wholly in view, are too small, are covered, or do not fit their text.
FAULTS = """() => {
    const needed = `.spots .spot, .tray__chip, .play .button, .offer .button, .limits, .meter, .call__notice .button,
        .rail--purse .meters .button, .live-stage .hand, .live-call, .live-corner:not(.chemin-rail *),
        .options :is(.button, input), .middle .hand, .decide__hand, .croupier__clock, .chemin-rail .meter__sum`;
    const faults = [];
    if (scrollY) faults.push("the page is scrolled");
    if (document.documentElement.scrollWidth > innerWidth) faults.push("something sticks out at the side");
    for (const each of document.querySelectorAll(needed)) {
        if (!each.checkVisibility({visibilityProperty: true})) continue;
        const name = each.id || `${each.className} ${each.innerText}`.replace(/\\s+/g, " ");
        const {left, top, right, bottom, width, height} = each.getBoundingClientRect();
        if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) {
            faults.push(`${name} is not in view: ${[left, top, right, bottom].map(Math.round)}`);
            continue;
        }
        const above = document.elementFromPoint(left + width / 2, top + height / 2);
        if (!each.contains(above)) faults.push(`${name} lies under ${above.id || above.className}`);
        if (each.matches("button, label, a") && Math.min(width, height) < 43.9) {
            faults.push(`${name} is small: ${Math.round(width)} × ${Math.round(height)}`);
        }
        if (each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1) {
            faults.push(`${name} does not hold its text: ${each.scrollWidth} × ${each.scrollHeight}`);
        }
    }
    return faults;
}"""


# Writes the payout of a bet on the tie as well, with another amount.
WRITTEN_ON_THE_TIE = """(paid, amount) => {
    const sums = document.querySelector("#bet-tie .spot__sums");
    if (sums.contains(paid)) return;
    sums.append(paid.cloneNode(true));
    sums.lastElementChild.lastChild.textContent = amount;
}"""


def with_large_chips(limits: StoredLimits) -> StoredLimits:
    """Return *limits* in which the last chip and the maximum of each bet are the largest amount."""
    in_lei = limits["RON"]
    in_lei["chips"][-1] = LARGEST
    for allowed in in_lei["bets"].values():
        allowed[1] = LARGEST
    return limits


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player("RO", real=MONEY, free=MONEY)


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Callable[..., Page]]:
    """Open a window, logged in, and fail on any error that the browser reported."""
    with windows_without_complaint(new_context, web_server, player) as open_page:
        yield open_page


def fits(page: Page) -> None:
    """Look for faults at every size."""
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        found += [f"{width} × {height}: {fault}" for fault in page.evaluate(FAULTS)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("mode", ["real", "free"])
@pytest.mark.sweep
def test_an_empty_table_fits(enter, mode):
    a_table()
    page = enter()
    page.goto(f"/en/table/baccarat/{mode}/")
    fits(page)


def test_the_bar_above_a_table_holds_menu_play_session_and_pause(enter):
    a_table()
    page = enter()
    for language in ("de", "ro"):
        page.goto(f"/{language}/table/baccarat/free/")
        expect(page.locator("#play-session")).to_be_visible()
        for width in (900, 1024, 1100, 1141, 1280):
            page.set_viewport_size({"width": width, "height": 768})
            pause = page.locator("#pause").bounding_box()
            assert pause
            assert pause["x"] + pause["width"] <= width, (language, width)


@pytest.mark.parametrize("language", sweep(LANGUAGES, always=[LONGEST_LANGUAGE]))
def test_bets_a_notice_and_a_result_fit_at_baccarat(enter, player, language):
    table = a_table(limits=with_large_chips(baccarat_limits()))
    a_seat(player, table, player=LARGEST, banker=LARGEST, tie=LARGEST)
    page = enter()
    page.goto(f"/{language}/table/baccarat/real/")
    page.locator("[name=chip]").last.check(force=True)
    page.locator("#bet-banker").click()
    expect(page.locator(".call__notice")).to_be_visible()
    fits(page)
    deal(page)
    expect(page.locator(".spot__paid").first).to_be_visible()
    fits(page)


@pytest.mark.parametrize("language", sweep(LANGUAGES, always=[LONGEST_LANGUAGE]))
def test_bets_cards_and_clock_of_a_shared_table_fit(enter, language):
    a_live_table()
    page = enter()
    page.goto(f"/{language}/table/live/real/")
    fits(page)
    for bet in ("player", "tie", "perfect_pair"):
        page.locator(f"#bet-{bet}").click()
        expect(page.locator(f"#bet-{bet} .spot__stake")).to_be_visible()
    fits(page)


@pytest.mark.parametrize("language", sweep(LANGUAGES, always=[LONGEST_LANGUAGE]))
def test_choices_cards_clock_and_money_of_each_decision_at_chemin_fit(new_context, web_server, language):
    live_table = a_chemin_table(clock=UNHURRIED_CHEMIN)
    seated_players(live_table, 4)
    for is_banker in (True, False):
        player = asked_at(live_table)
        page = a_window(new_context, web_server, player).new_page()
        page.goto(f"/{language}/table/chemin/real/")
        see_decision(page, live_table)
        if is_banker:
            take_bank(live_table)
            finish_cut(live_table)
    answer(player, live_table, "make_call", call=Call.BANCO_SOLO)
    while seen_of(live_table).phase in IN_COUP:
        if asked(live_table) == player:
            see_decision(page, live_table)
        answer_by_the_rule(live_table)


def see_decision(page: Page, live_table: LiveTable) -> None:
    """Wait for the question to the player of the page, and look for faults at every size."""
    expect(page.locator("#live-own")).to_have_attribute("data-asked", str(chemin_of(live_table).question))
    fits(page)


@pytest.mark.parametrize("language", sweep(LANGUAGES, always=[LONGEST_LANGUAGE]))
def test_bets_a_notice_and_a_result_fit_at_golden(enter, player, language):
    table = a_golden_table(limits=with_large_chips(golden_limits()))
    a_purse(player, PURSE)
    a_seat(player, table, player=LARGEST, tie=LARGEST)
    page = enter()
    page.goto(f"/{language}/table/golden/real/")
    page.locator("#bet-banker").click()
    expect(page.locator(".call__notice")).to_be_visible()
    fits(page)
    deal(page)
    expect(page.locator(".call__result")).to_be_visible()
    fits(page)


@pytest.mark.parametrize("language", sweep(LANGUAGES, always=[LONGEST_LANGUAGE]))
@pytest.mark.sweep
def test_the_offer_of_a_purse_that_is_too_small_fits(enter, player, language):
    table = a_golden_table()
    a_purse(player, 100_00)
    a_seat(player, table, player=50_00, tie=50_00)
    purse.leave(player=player, mode=Mode.REAL, key=uuid4())
    a_purse(player, 50_00)
    page = enter()
    page.goto(f"/{language}/table/golden/real/")
    expect(page.locator("#act-lower")).to_be_visible()
    fits(page)


@pytest.mark.parametrize("game", sample(["baccarat", "golden"], 1))
def test_the_meters_hold_what_a_tie_can_pay(enter, player, game):
    """Few coups are a tie, so a test cannot wait for one: the sums are written into the meters."""
    a_golden_table() if game == "golden" else a_table()
    a_purse(player, 100_00)
    page = enter()
    page.goto(f"/ro/table/{game}/real/")
    sums = {"bet": "300.000,00 RON", "balance": "1.300.000,00 RON", "win": "1.100.000,00 RON"}
    for meter, text in sums.items():
        page.locator(f".meter--{meter} .meter__sum").evaluate("(sum, text) => { sum.textContent = text }", text)
    fits(page)


@pytest.mark.parametrize("language", sweep(LANGUAGES, always=[LONGEST_LANGUAGE]))
@pytest.mark.sweep
def test_what_a_tie_pays_is_visible_on_its_bet(enter, player, language):
    """As above, what was paid on another bet is written on the tie."""
    table = a_table(limits=with_large_chips(baccarat_limits()))
    a_seat(player, table, player=LARGEST, banker=LARGEST, tie=LARGEST)
    page = enter()
    page.goto(f"/{language}/table/baccarat/real/")
    deal(page)
    paid = page.locator(".spot__paid:not(.spot__paid--even)").first  # one side without a tie, the tie with one
    expect(paid).to_be_visible()
    stake = page.locator("#bet-tie .spot__stake")
    paid.evaluate(WRITTEN_ON_THE_TIE, stake.inner_text().splitlines()[-1].replace("1", "9", 1))
    expect(page.locator("#bet-tie .spot__paid")).to_have_count(1)
    fits(page)
