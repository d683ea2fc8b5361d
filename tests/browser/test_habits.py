"""Unbalanced habits: with any use of tabs, windows, laptops and clocks, one click on DEAL is one round."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from games.models import Round
from players.models import Player
from tests.browser.at_table import TABLE, a_window, at_table, balance_is_that_of, deal, put
from tests.builders import a_player, a_table
from tests.harness.browser import NewContext
from tests.harness.sweeps import sample
from tests.harness.web import WebServer
from tests.wallet import wholeness

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 1_000_000
TABS = 8
NOTICE = ".call__notice"


@pytest.fixture
def player(web_server: WebServer) -> Iterator[Player]:
    """A player at an open table; checks afterwards that the ledger is correct."""
    a_table()
    yield a_player(real=MONEY)
    wholeness.assert_whole()


@pytest.fixture
def window(new_context: NewContext, web_server: WebServer, player: Player) -> Callable[..., BrowserContext]:
    """Open a browser logged in as the player."""
    return lambda **options: a_window(new_context, web_server, player, **options)


def click_without_waiting(page: Page, button: str) -> None:
    page.evaluate("button => setTimeout(() => document.getElementById(button).click())", f"act-{button}")


@pytest.mark.sweep
def test_many_tabs_that_deal_at_once_play_one_round(window, player):
    browser = window()
    first = at_table(browser)
    put(first)
    tabs = [first, *(at_table(browser) for _ in range(TABS - 1))]
    before = first.locator("[name=round_id]").input_value()
    for tab in tabs:
        click_without_waiting(tab, "deal")
    for tab in tabs:
        expect(tab.locator("[name=round_id]")).not_to_have_value(before)
    balance_is_that_of(player, rounds=1, money=MONEY)
    balances = {tab.locator(".meter--balance .meter__sum").inner_text() for tab in tabs}
    assert len(balances) == 1


@pytest.mark.sweep
def test_the_back_button_deals_nothing_again(window, player):
    page = at_table(window())
    put(page)
    deal(page)
    page.goto("/en/history/")
    page.goto("/en/")
    for _ in range(2):
        page.go_back()
    page.locator("#act-deal").click()
    expect(page.locator(NOTICE)).to_contain_text("Place a bet first")
    deal(page, "rebet_deal")
    page.go_back()
    page.go_forward()
    balance_is_that_of(player, rounds=2, money=MONEY)


def test_two_browsers_of_one_player_never_deal_what_the_other_has_changed(window, player):
    one, two = at_table(window()), at_table(window())
    put(one)
    two.locator("#act-deal").click()
    expect(two.locator(NOTICE)).to_contain_text("changed in another window")
    deal(two)
    one.locator("#act-deal").click()
    expect(one.locator(NOTICE)).to_contain_text("already been played")
    balance_is_that_of(player, rounds=1, money=MONEY)
    deal(one, "rebet_deal")
    balance_is_that_of(player, rounds=2, money=MONEY)


@pytest.mark.sweep
def test_two_browsers_that_deal_at_once_play_one_round(window, player):
    one = at_table(window())
    put(one)
    two = at_table(window())
    before = one.locator("[name=round_id]").input_value()
    for page in (one, two):
        click_without_waiting(page, "deal")
    for page in (one, two):
        expect(page.locator("[name=round_id]")).not_to_have_value(before)
    balance_is_that_of(player, rounds=1, money=MONEY)


@pytest.mark.sweep
def test_a_laptop_that_slept_plays_what_is_clicked_after_it_woke(window, player):
    asleep = window()
    page = asleep.new_page()
    page.clock.install()
    page.goto(TABLE)
    put(page)
    asleep.set_offline(True)
    page.locator("#act-deal").click()
    expect(page.locator(".toast")).to_contain_text("cannot be reached")
    page.clock.fast_forward("03:00:00")
    asleep.set_offline(False)
    assert Round.objects.count() == 0
    deal(page)
    balance_is_that_of(player, rounds=1, money=MONEY)


@pytest.mark.sweep
def test_a_laptop_that_slept_while_the_phone_played_stakes_nothing_twice(window, player):
    laptop, phone = window(), window()
    page = at_table(laptop)
    put(page)
    laptop.set_offline(True)
    deal(at_table(phone))
    laptop.set_offline(False)
    expect(page.locator(NOTICE)).to_contain_text("was completed while you were away")
    page.locator("#act-deal").click()
    expect(page.locator(NOTICE)).to_contain_text("Place a bet first")
    balance_is_that_of(player, rounds=1, money=MONEY)


@pytest.mark.sweep
@pytest.mark.parametrize("year", sample([1999, 2037], 1))
def test_a_clock_set_wrong_changes_neither_play_nor_times(window, player, year):
    page = window().new_page()
    page.clock.install(time=datetime(year, 1, 1, tzinfo=UTC))
    page.goto(TABLE)
    put(page)
    deal(page)
    deal(page, "rebet_deal")
    page.goto("/en/history/")
    times = page.locator(".round-line time").evaluate_all("all => all.map(each => each.dateTime)")
    assert [datetime.fromisoformat(each).year for each in times] == [datetime.now(UTC).year] * 2
    balance_is_that_of(player, rounds=2, money=MONEY)
