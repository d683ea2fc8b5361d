"""The way of a newcomer to their first card, with and without an account: every click and field is counted."""

import pytest
from playwright.sync_api import Page, expect

from games.models import Phase
from players.models import Player
from tests.browser.at_table import deal, put
from tests.builders import a_player, a_table
from tests.harness.browser import PHONE, NewContext
from tests.harness.databases import Database
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet
from tests.people import mailed_code
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.sandbox_bank import orders

pytestmark = pytest.mark.browser

EMAIL = "new.player@example.com"
PERSON = {
    "given_names": "Ada",
    "family_name": "King",
    "street": "12 St James’s Square",
    "postal_code": "SW1Y 4JH",
    "city": "London",
}


class Hand:
    """A hand that counts what it does on a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.fields = 0

    def click(self, what: str) -> None:
        self.page.locator(what).first.click()
        self.clicks += 1

    def choose(self, what: str, option: str) -> None:
        self.page.locator(what).select_option(option)
        self.clicks += 1

    def fill(self, what: str, text: str) -> None:
        self.page.locator(what).fill(text)
        self.fields += 1


def register(hand: Hand, residence: str) -> Player:
    """Press Play, register, and confirm the e-mail address."""
    hand.click("#table-baccarat a[href*='/table/baccarat/real/']")
    hand.fill("#id_email", EMAIL)
    hand.fill("#id_password1", "a long and good password")
    hand.choose("#id_residence", residence)
    hand.fill("#id_birth_date", "1990-02-28")
    hand.click("#id_agrees")
    hand.click("main form button")
    expect(hand.page.locator("#id_code")).to_be_visible()
    hand.fill("#id_code", mailed_code(EMAIL, "verify_address"))
    hand.click("main form button")
    return Player.objects.get(user__email=EMAIL)


def be_known(hand: Hand) -> None:
    """Say who one is on the page to which the table has led."""
    expect(hand.page.locator("#claim-form")).to_be_visible()
    for field, text in PERSON.items():
        hand.fill(f"#claim-form [name={field}]", text)
    hand.click("#confirm-identity")


def deposit_and_play(hand: Hand, preset: int) -> None:
    """Deposit in the dialog at the table, come back to it, and play a round."""
    page = hand.page
    expect(page.locator("#act-deal")).to_be_visible()
    hand.click("a[data-deposit]")
    expect(page.locator("#deposit-sheet .presets button")).to_have_count(4)
    hand.click(f"#deposit-sheet .presets button >> nth={preset}")
    hand.click("button:has-text('Approve')")
    orders.send_due()
    expect(page).to_have_url(f"{page.url.split('/en/')[0]}/en/table/baccarat/real/")
    put(page, "player")
    deal(page)
    hand.clicks += 2
    expect(page.locator(".call__result")).to_be_visible()


def test_from_play_to_the_first_card_of_a_new_account(new_context: NewContext, web_server: WebServer) -> None:
    a_table()
    hand = Hand(new_context(base_url=web_server.url, viewport=PHONE, reduced_motion="reduce").new_page())
    hand.page.goto("/en/")
    player = register(hand, "GB:GBP")
    be_known(hand)
    hand.click("[aria-labelledby=offer] button")
    deposit_and_play(hand, 1)
    assert accounts.totals(player.pk).balances()[Mode.REAL] != 0
    # Five fields are the name and address that the law asks for before play for real money.
    assert (hand.clicks, hand.fields) == (12, 9)


def test_from_the_lobby_to_the_first_card_without_an_account(new_context: NewContext, web_server: WebServer) -> None:
    a_table()
    hand = Hand(new_context(base_url=web_server.url, viewport=PHONE, reduced_motion="reduce").new_page())
    hand.page.goto("/en/")
    for step in ("a[href*='/demo/baccarat/']", "#adult", "#to-play", "#bet-player", "#act-deal"):
        hand.click(step)
    expect(hand.page.locator(".call__result")).to_be_visible()
    assert (hand.clicks, hand.fields) == (5, 0)


def test_a_visitor_watches_a_live_table_and_sees_its_first_card_and_result(
    cloned_db: Database, new_context: NewContext, web_server: WebServer
) -> None:
    live_table = a_live_table()
    bet(a_player(real=1_000_00), live_table, player=50_00)
    hand = Hand(new_context(base_url=web_server.url, viewport=PHONE, reduced_motion="reduce").new_page())
    hand.page.goto("/en/")
    hand.click("#table-live a[href$='/table/live/real/watch/']")
    call = hand.page.locator("#live-call .live-call__what")
    expect(call).to_contain_text("Place your bets")
    advance_to(live_table, Phase.SETTLED)
    expect(hand.page.locator("#watched .card")).not_to_have_count(0)
    expect(hand.page.locator("#watched-board .road--beads desc")).to_contain_text("1")
    assert hand.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert (hand.clicks, hand.page.locator("#live-own, .spot").count()) == (1, 0)
