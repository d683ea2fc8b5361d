"""Golden Baccarat as a person plays it, in real Chromium against the real server."""

from collections.abc import Callable, Iterator
from itertools import product
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from games.models import Participation, Round, Table
from players.models import Player
from tests.browser.at_table import windows_without_complaint
from tests.builders import a_golden_table, a_player, a_purse, a_seat
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.sweeps import sample
from tests.harness.web import WebServer
from wallet.ledger import accounts, purse
from wallet.models import Mode
from wallet.money import format_money

pytestmark = pytest.mark.browser

MONEY = 1_000_000
TABLE = "/en/table/golden/real/"
NEEDED = ("#bet-player", "#bet-tie", "#bet-banker", ".limits", ".meter--bet", ".meter--balance", ".meter--win")


@pytest.fixture
def player(web_server: WebServer) -> Player:
    a_golden_table()
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Callable[..., Page]]:
    """Open a window, logged in, and fail on any error that the browser reported."""
    with windows_without_complaint(new_context, web_server, player) as open_page:
        yield open_page


def money(amount: int) -> str:
    return format_money(amount, "SEK", "en")


def expect_bet(page: Page, bet: str, amount: int) -> None:
    """Wait until the stake on a bet is *amount*; 0 means no stake."""
    stake = page.locator(f"#bet-{bet} .spot__stake")
    if amount:
        expect(stake).to_contain_text(money(amount))
    else:
        expect(stake).to_have_count(0)


def dealt(page: Page, rounds: int) -> None:
    """Wait until so many rounds have been played and the last one is shown completely."""
    code = page.locator(".seal b")
    expect(code).to_have_count(1)
    expect(page.locator("#game.game--fresh")).to_have_count(0)
    expect(page.locator(".call__result")).to_be_visible()
    assert Round.objects.count() == rounds


def test_a_round_from_rebuy_to_leaving(enter, player):
    page = enter()
    page.goto(TABLE)
    page.locator(".offer .button--go").click()
    page.get_by_label("Amount", exact=True).first.fill("1,000")
    page.locator("#rebuy-go").click()
    expect(page.locator(".call__notice")).to_contain_text(money(100_000))
    expect(page.locator(".meter--balance")).to_contain_text(money(100_000))
    page.locator("#bet-player").click()
    expect_bet(page, "player", 1000)
    page.locator("#act-deal").click()
    dealt(page, 1)
    expect_bet(page, "player", 1000)
    version = page.locator("[name=round_id]").input_value()
    page.locator("#act-deal").click()
    expect(page.locator("[name=round_id]")).not_to_have_value(version)
    dealt(page, 2)
    assert [part.staked for part in Participation.objects.all()] == [1000, 1000]
    left = purse.balance(player, Mode.REAL)
    page.locator("#leave").click()
    expect(page.get_by_text("You left the game.")).to_contain_text(money(left))
    assert page.url.endswith("/en/")
    won = sum(part.paid - part.staked for part in Participation.objects.all())
    assert accounts.balance(player.pk, Mode.REAL) == MONEY + won


@pytest.mark.sweep
def test_a_right_click_takes_a_chip_off_and_opens_no_menu(enter, player):
    a_purse(player, MONEY)
    page = enter()
    page.goto(TABLE)
    for _ in range(3):
        page.locator("#bet-tie").click()
    expect_bet(page, "tie", 3000)
    page.evaluate("addEventListener('contextmenu', e => { window.prevented = e.defaultPrevented; })")
    page.locator("#bet-tie").click(button="right")
    expect_bet(page, "tie", 2000)
    assert page.evaluate("window.prevented")
    for _ in range(2):
        page.locator("#bet-tie").click(button="right")
    expect_bet(page, "tie", 0)


def test_a_long_press_takes_a_chip_off_and_a_tap_adds_one(enter, player):
    a_purse(player, MONEY)
    page = enter(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(TABLE)
    for amount in (1000, 2000):
        page.locator("#bet-player").tap()
        expect_bet(page, "player", amount)
    box = page.locator("#bet-player").bounding_box()
    assert box is not None
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    finger = page.context.new_cdp_session(page)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    expect_bet(page, "player", 1000)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.locator("#bet-tie").tap()
    expect_bet(page, "tie", 1000)
    expect_bet(page, "player", 1000)


@pytest.mark.sweep
@pytest.mark.parametrize("key", sample(["Delete", "Backspace", "Shift+Enter"], 1))
def test_the_keyboard_takes_a_chip_off_too(enter, player, key):
    a_purse(player, MONEY)
    page = enter()
    page.goto(TABLE)
    page.locator("#bet-banker").focus()
    for amount in (1000, 2000):
        page.keyboard.press("Enter")
        expect_bet(page, "banker", amount)
    page.keyboard.press(key)
    expect_bet(page, "banker", 1000)
    assert page.evaluate("document.activeElement.id") == "bet-banker", "the focus stays where it was"


@pytest.mark.sweep
def test_without_javascript_a_small_button_takes_a_chip_off(enter, player):
    a_purse(player, MONEY)
    page = enter(java_script_enabled=False)
    page.goto(TABLE)
    for _ in range(2):
        page.locator("#bet-player").click()
    page.locator("#take-player").click()
    expect_bet(page, "player", 1000)
    page.locator("#act-deal").click()
    expect(page.locator(".call__result")).to_be_visible()
    expect_bet(page, "player", 1000)


@pytest.mark.sweep
def test_the_other_side_is_refused_in_a_sentence(enter, player):
    a_purse(player, MONEY)
    page = enter()
    page.goto(TABLE)
    page.locator("#bet-player").click()
    expect_bet(page, "player", 1000)
    page.locator("#bet-banker").click()
    expect(page.locator(".call__notice--error")).to_contain_text("cannot be combined")
    expect_bet(page, "banker", 0)
    expect_bet(page, "player", 1000)


@pytest.mark.sweep
def test_too_little_for_the_bets_offers_a_lower_bet_in_one_click(enter, player):
    a_purse(player, 5000)
    a_seat(player, Table.objects.get(), player=5000)
    purse.leave(player=player, mode=Mode.REAL, key=uuid4())
    a_purse(player, 2000)
    page = enter()
    page.goto(TABLE)
    expect(page.locator(".offer")).to_be_visible()
    page.locator("#act-lower").click()
    expect_bet(page, "player", 2000)
    page.locator("#act-deal").click()
    dealt(page, 1)


@pytest.mark.sweep
def test_quick_amounts_rebuy_with_one_click(enter, player):
    page = enter()
    page.goto(TABLE)
    page.locator(".offer .button--go").click()
    page.locator(".rebuy__quick button").first.click()
    expect(page.locator(".meter--balance")).to_contain_text(money(10_000))


@pytest.mark.parametrize("filled", [0, 10_000], ids=["empty", "filled"])
@pytest.mark.sweep
def test_everything_needed_is_in_one_view_in_every_language(enter, player, filled, languages):
    if filled:
        a_purse(player, filled)
    page = enter()
    for language, viewport in product(languages, (DESKTOP, PHONE)):
        page.set_viewport_size(viewport)
        page.goto(f"/{language}/table/golden/real/")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out at the side"
        expect(page.get_by_role("button", name=page.locator("#act-rebuy").text_content(), exact=True)).to_have_count(1)
        for selector in (*NEEDED, *(("#act-rebuy", "#act-deal") if filled else (".offer .button--go",))):
            box = page.locator(selector).bounding_box()
            assert box is not None, selector
            assert box["y"] + box["height"] <= viewport["height"], f"{selector} needs scrolling in {language}"
            assert box["x"] >= 0, selector
            assert box["x"] + box["width"] <= viewport["width"], selector
