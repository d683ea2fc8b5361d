"""The way of a newcomer to their first card, with and without an account: every click and field is counted."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from games.models import Phase
from players.models import Player, Submission, SubmissionStatus
from players.protection import limits
from tests.browser.at_table import deal, put
from tests.builders import a_player, a_table
from tests.harness.browser import PHONE, NewContext
from tests.harness.databases import Database
from tests.harness.sweeps import sample
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet
from tests.people import mailed_code
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.sandbox_bank import orders

pytestmark = pytest.mark.browser

EMAIL = "new.player@example.com"
PHONE_WITHOUT_MOTION: dict[str, Any] = {"viewport": PHONE, "reduced_motion": "reduce"}


@dataclass(frozen=True)
class Market:
    """A market, and what a newcomer does there on the way from *Play* to the first card."""

    language: str
    residence: str
    limits: tuple[str, ...]  # the deposit limits that the law requires before play, as periods
    clicks: int
    fields: int


# Ten clicks: Play, the country, agree to the terms, register, the eID and its approval, the amount and
# its approval, a chip, Deal. Four fields: e-mail address, password, date of birth, code. A limit that
# the law requires is a field more.
MARKETS = (
    Market("en", "GB:GBP", (), 10, 4),
    Market("da", "DK:DKK", (), 10, 4),
    Market("ro", "RO:RON", (), 10, 4),
    Market("de", "DE:EUR", ("month",), 10, 5),
    Market("sv", "SE:SEK", ("day", "week", "month"), 10, 7),
)


# Seconds that a person takes, by the keystroke-level model of Card, Moran and Newell: to decide and point (1.35 + 1.1)
# and press (0.2), and to type a character as people who are no typists do.
A_CLICK, TO_A_FIELD, A_CHARACTER = 2.65, 2.85, 0.28
A_MAIL = 20.0  # to open the mail and read the code
WITHOUT_ACCOUNT, WITH_ACCOUNT = 30, 180  # seconds to the first card, at most


class Hand:
    """A hand that counts what it does on a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.fields = 0
        self.characters = 0

    @property
    def seconds(self) -> float:
        """The time that a person takes for this, without the time of the pages themselves."""
        return self.clicks * A_CLICK + self.fields * TO_A_FIELD + self.characters * A_CHARACTER

    def click(self, what: str) -> None:
        self.page.locator(what).first.click()
        self.clicks += 1

    def choose(self, what: str, value: str) -> None:
        """Choose from a list in which nothing is chosen beforehand."""
        expect(self.page.locator(what)).to_have_value("")
        self.page.locator(what).select_option(value)
        self.clicks += 1

    def fill(self, what: str, text: str) -> None:
        self.page.locator(what).fill(text)
        self.fields += 1
        self.characters += len(text)


def register(hand: Hand, market: Market) -> Player:
    """Press Play, register, and confirm the e-mail address: the page sends the code when it is complete."""
    hand.click("#table-baccarat a[href*='/table/baccarat/real/']")
    hand.fill("#id_email", EMAIL)
    hand.fill("#id_password1", "a long and good password")
    hand.fill("#id_birth_date", "1990-02-28")
    hand.choose("#id_residence", market.residence)
    hand.click("#id_agrees")
    hand.click("main form button")
    expect(hand.page.locator("#id_code")).to_be_visible()
    hand.fill("#id_code", mailed_code(EMAIL, "verify_address"))
    expect(hand.page.locator("#use-eid")).to_be_visible()
    return Player.objects.get(user__email=EMAIL)


def deposit_and_play(hand: Hand, market: Market) -> None:
    """Set the limits that are required, deposit on the same page, come back to the table, and play a round."""
    page = hand.page
    expect(page.locator(".presets button")).to_have_count(4)
    expect(page.locator(".first-limits input")).to_have_count(1 if market.language == "de" else 3)
    for period in market.limits:
        hand.fill(f"#first-{period}", "1000")
    hand.click(".presets button >> nth=1")
    hand.click("[name=answer][value=approve]")
    orders.send_due()
    expect(page).to_have_url(re.compile(f"/{market.language}/table/baccarat/real/$"))
    put(page, "player")
    deal(page)
    hand.clicks += 2
    expect(page.locator(".call__result")).to_be_visible()


@pytest.mark.parametrize("market", sample(MARKETS, 1), ids=lambda market: market.language)
def test_from_play_to_the_first_card_of_a_new_account(
    market: Market, new_context: NewContext, web_server: WebServer
) -> None:
    a_table()
    hand = Hand(new_context(base_url=web_server.url, **PHONE_WITHOUT_MOTION).new_page())
    hand.page.goto(f"/{market.language}/")
    player = register(hand, market)
    hand.click("#use-eid")
    hand.click("[name=say][value=approve]")
    deposit_and_play(hand, market)
    assert accounts.totals(player.pk).balances()[Mode.REAL] != 0
    assert Submission.objects.get(player=player).status == SubmissionStatus.VERIFIED
    own = limits.own_limits(player)
    assert {period.value: amount for (_kind, period), amount in own.items()} == dict.fromkeys(market.limits, 1_000_00)
    assert (hand.clicks, hand.fields) == (market.clicks, market.fields)
    assert hand.seconds + A_MAIL < WITH_ACCOUNT / 2  # the other half is for reading


def test_from_the_lobby_to_the_first_card_without_an_account(new_context: NewContext, web_server: WebServer) -> None:
    a_table()
    hand = Hand(new_context(base_url=web_server.url, viewport=PHONE, reduced_motion="reduce").new_page())
    hand.page.goto("/en/")
    for step in ("a[href*='/demo/baccarat/']", "#adult", "#to-play", "#bet-player", "#act-deal"):
        hand.click(step)
    expect(hand.page.locator(".call__result")).to_be_visible()
    assert (hand.clicks, hand.fields) == (5, 0)
    assert hand.seconds < WITHOUT_ACCOUNT / 2


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
