"""A round by single keys, the list of them, and how to switch them off; announcements and their order; flying chips."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from games.engine.coup import Outcome
from games.models import Round, SoloSeat
from players.models import Player
from tests.browser.at_table import ADDED, TABLE, put, windows_without_complaint, without_chance
from tests.builders import a_golden_table, a_player, a_purse, a_table
from tests.harness.browser import NewContext
from tests.harness.dealer import first, seeds_drawn
from tests.harness.web import ServerStarter, WebServer
from tests.servers.search import seed_where

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 1_000_000
BANKER_IN_SIX = seed_where(lambda coup: len(coup.cards) == 6 and coup.outcome is Outcome.BANKER, player_values=ADDED)


@pytest.fixture
def new_context(new_context: NewContext) -> NewContext:
    """Browsers that add a fixed value to the chosen seed."""
    return without_chance(new_context)


@pytest.fixture
def web_server(start_server: ServerStarter) -> Iterator[WebServer]:
    """The house; the first round anyone opens is won by Banker in six cards."""
    with seeds_drawn(first(BANKER_IN_SIX)):
        yield start_server()


@pytest.fixture
def player(web_server: WebServer) -> Player:
    a_table()
    return a_player(real=MONEY)


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Callable[..., Page]]:
    """Open a window, logged in, and fail on any error that the browser reported."""
    with windows_without_complaint(new_context, web_server, player) as open_page:
        yield open_page


def press(page: Page, key: str) -> None:
    """Press a key that changes the bets, and wait until the house has them."""
    before = page.locator("[name=slip_version]").input_value()
    page.keyboard.press(key)
    expect(page.locator("[name=slip_version]")).not_to_have_value(before)


def expect_bet(page: Page, bet: str, amount: str) -> None:
    expect(page.locator(f"#bet-{bet} .spot__stake")).to_contain_text(amount)


def test_a_whole_round_by_single_keys(enter):
    page = enter()
    page.goto(TABLE)
    page.locator("#bet-tie").focus()
    page.keyboard.press("2")
    expect(page.locator("[name=chip]").nth(1)).to_be_checked()
    press(page, "b")
    press(page, "x")
    press(page, "t")
    press(page, "u")
    expect_bet(page, "banker", "SEK 100.00")
    assert SoloSeat.objects.get().slip == {"banker": 10_000}
    assert page.evaluate("document.activeElement.id") == "bet-tie", "the focus stays where it was"
    page.keyboard.press("d")
    expect(page.locator(".call__result")).to_be_visible()
    expect(page.locator("#game.game--fresh")).to_have_count(0)
    played = Round.objects.get()
    assert page.evaluate("document.activeElement.id") == "bet-tie"
    press(page, "r")
    press(page, "c")
    page.keyboard.press("Shift+R")
    expect(page.locator(".seal b")).not_to_have_text(played.code)


@pytest.mark.sweep
def test_shift_takes_one_chip_off_where_the_game_offers_it(enter, player):
    a_golden_table()
    a_purse(player, MONEY // 2)
    page = enter()
    page.goto("/en/table/golden/real/")
    press(page, "p")
    press(page, "p")
    press(page, "Shift+P")
    expect_bet(page, "player", "SEK 10.00")
    page.keyboard.press("?")
    keys = page.locator("#shortcuts .keys")
    expect(keys).to_contain_text("Take one chip off Player")
    expect(keys).not_to_contain_text("Undo")


@pytest.mark.sweep
def test_the_list_names_what_the_game_offers_and_closes_with_esc(enter):
    page = enter()
    page.goto(TABLE)
    page.locator("#act-deal").focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.locator(".keys > div").filter(has_text="Rebet & Deal").locator("kbd")).to_have_text(["Shift", "R"])
    expect(dialog.locator(".keys")).not_to_contain_text("Take one chip off")
    page.keyboard.press("b")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("#act-deal")).to_be_focused()
    expect(page.locator("#bet-banker .spot__stake")).to_have_count(0)


@pytest.mark.sweep
def test_keys_rest_while_one_types_or_holds_another_key(enter):
    page = enter()
    page.goto(TABLE)
    page.locator("#player-value").focus()
    page.keyboard.type("b2?")
    expect(page.locator("#player-value")).to_have_value("b2?")
    page.locator("#act-deal").focus()
    page.keyboard.press("Alt+b")
    press(page, "t")
    assert SoloSeat.objects.get().slip == {"tie": 1000}


@pytest.mark.sweep
def test_single_keys_can_be_switched_off_and_stay_off(enter):
    page = enter()
    page.goto(TABLE)
    page.locator("#keys").click()
    page.locator("#keys-on").uncheck()
    page.reload()
    page.keyboard.press("?")
    page.keyboard.press("b")
    page.locator("#keys").click()
    expect(page.locator("#keys-on")).not_to_be_checked()
    page.locator("#keys-on").check()
    page.keyboard.press("Escape")
    press(page, "t")
    assert SoloSeat.objects.get().slip == {"tie": 1000}


@pytest.mark.sweep
def test_a_round_is_announced_in_order_cards_totals_result_money(enter):
    page = enter()
    page.goto(TABLE)
    press(page, "b")
    page.keyboard.press("d")
    expect(page.locator("#spoken p").last).to_contain_text("Balance: SEK")
    lines = page.locator("#spoken p").all_inner_texts()
    assert lines[0] == "Bet SEK\u00a010.00"
    sides = [line.split(":")[0] if " of " in line else line.split(". ")[-1] for line in lines[1:9]]
    thirds = ["A card for Player.", "Player", "A card for Banker.", "Banker"]
    assert sides == ["Player", "Banker", "Player", "Banker", *thirds]
    assert [line.split(" total ")[0] for line in lines[9:11]] == ["Player:", "Banker:"]
    assert lines[11].startswith("Banker wins")
    assert lines[12].startswith("Win: SEK")


def test_a_bet_says_its_name_what_it_pays_its_limits_and_its_stake(enter):
    page = enter()
    page.goto(TABLE)
    press(page, "t")
    name = page.locator("#bet-tie").inner_text().replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ")
    for part in ("Tie", "pays 8:1", "limits SEK 10.00 – SEK 2,500.00", "your bet SEK 10.00"):
        assert part in " ".join(name.split())


@pytest.mark.sweep
def test_no_two_regions_share_a_label(enter):
    page = enter()
    page.goto(TABLE)
    labels = page.evaluate(
        """() => [...document.querySelectorAll("nav, section, [role=log], [role=group], fieldset, dialog")].map(each =>
            each.ariaLabel ?? document.getElementById(each.getAttribute("aria-labelledby"))?.textContent ??
            each.querySelector("legend")?.textContent)"""
    )
    assert None not in labels
    assert len(labels) == len(set(labels))


FLIGHTS = """() => {
    window.flights = 0;
    new MutationObserver((changes) => {
        for (const change of changes) for (const each of change.addedNodes) flights += each.className === "flight";
    }).observe(document.body, {childList: true});
}"""


@pytest.mark.parametrize(("motion", "flights"), [("system", 2), ("reduce", 0)])
@pytest.mark.sweep
def test_chips_fly_where_motion_is_wanted_and_are_gone_afterwards(enter, motion, flights):
    page = enter(reduced_motion="no-preference")
    page.add_init_script(f"localStorage.setItem('sabot.motion', '{motion}')")
    page.goto(TABLE)
    press(page, "b")
    press(page, "p")
    page.evaluate(FLIGHTS)
    page.keyboard.press("d")
    expect(page.locator(".call__result")).to_be_visible()
    expect(page.locator("#game.game--fresh")).to_have_count(0)
    assert page.evaluate("flights") == flights
    expect(page.locator(".flight")).to_have_count(0)


@pytest.mark.sweep
def test_a_deck_of_four_colours_tells_all_suits_apart_on_the_paper(enter):
    page = enter()
    page.add_init_script("localStorage.setItem('sabot.deck', 'four')")
    page.goto(TABLE)
    press(page, "b")
    page.keyboard.press("d")
    expect(page.locator(".card")).to_have_count(6)
    ratios = page.evaluate(
        """() => {
            const card = document.querySelector(".card");
            const face = card.querySelector(".card__face");
            const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((each) => each / 255)
                .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
                .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0.05);
            return ["clubs", "diamonds", "hearts", "spades"].map((suit) => {
                card.className = `card card--${suit}`;
                const { color, backgroundColor } = getComputedStyle(face);
                return [color, light(backgroundColor) / light(color)];
            });
        }"""
    )
    assert len({colour for colour, _ in ratios}) == 4
    assert min(ratio for _, ratio in ratios) >= 4.5


@pytest.mark.sweep
def test_a_refused_click_repeats_no_total(enter, player):
    a_golden_table()
    a_purse(player, MONEY)
    page = enter()
    page.goto("/en/table/golden/real/")
    put(page, "player")
    for _ in range(3):
        with page.expect_response("**/table/golden/real/play/"):
            page.locator("#bet-banker").click()
        expect(page.get_by_role("alert").filter(has_text="cannot be combined")).to_be_visible()
    put(page, "tie")
    expect(page.locator("#spoken p")).to_have_text(["Bet SEK 10.00", "Bet SEK 20.00"])
