"""A deposit as a person makes it, in real Chromium against the real server, with the bank's real messages."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from players.models import Player
from tests.browser.at_table import windows_without_complaint
from tests.builders import a_player
from tests.harness.browser import NewContext
from tests.harness.sweeps import sample, sweep
from tests.harness.web import WebServer
from wallet.ledger import accounts
from wallet.models import Mode, Payment
from wallet.sandbox_bank import orders

pytestmark = pytest.mark.browser


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player()


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Callable[..., Page]]:
    """Open a window, logged in, and fail on any error that the browser reported."""
    with windows_without_complaint(new_context, web_server, player) as open_page:
        yield open_page


def to_the_bank(page: Page) -> None:
    """Ask for a deposit and arrive at the bank."""
    page.goto("/en/cashier/")
    page.get_by_label("Amount").first.fill("500")
    page.locator("#deposit").click()
    expect(page.get_by_text("No real payments")).to_be_visible()
    expect(page.locator(".figure")).to_contain_text("500.00")


@pytest.mark.parametrize(
    ("button", "message", "balance"),
    sample(
        [
            ("Approve", "The money is in your account.", 50_000),
            ("Decline", "The bank has declined this payment.", 0),
            ("Leave without paying", "You left the bank without paying.", 0),
        ],
        1,
    ),
)
def test_the_bank_decides_and_the_page_says_so(enter, player, button, message, balance):
    page = enter()
    to_the_bank(page)
    page.get_by_role("button", name=button).click()
    expect(page.get_by_text("We are asking the bank what happened.")).to_be_visible()
    orders.send_due()
    expect(page.get_by_text(message)).to_be_visible()
    assert accounts.balance(player.pk, Mode.REAL) == balance


@pytest.mark.parametrize("behaviour", sweep(["Twice", "Out of order"], always=["Twice"]))
def test_however_the_bank_tells_it_the_money_comes_once(enter, player, behaviour):
    page = enter()
    to_the_bank(page)
    page.get_by_label(behaviour).check()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("We are asking the bank what happened.")).to_be_visible()
    orders.send_due()
    expect(page.get_by_text("The money is in your account.")).to_be_visible()
    assert accounts.balance(player.pk, Mode.REAL) == 50_000


@pytest.mark.sweep
def test_it_works_without_javascript(enter, player):
    page = enter(java_script_enabled=False)
    page.goto("/en/cashier/")
    page.get_by_label("Amount").first.fill("500")
    page.locator("#deposit").click()
    page.get_by_role("link", name="Go to the bank").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("We are asking the bank what happened.")).to_be_visible()
    orders.send_due()
    page.get_by_role("link", name="Check again").click()
    expect(page.get_by_text("The money is in your account.")).to_be_visible()
    assert Payment.objects.get().authorisation.startswith("SB")
