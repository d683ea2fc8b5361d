"""A player at the Chemin de Fer table in real Chromium, who answers the questions of the page and
records the answers.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal

from playwright.sync_api import Error, Page
from playwright.sync_api import TimeoutError as NobodyAsked

from tests.drill.api_players import BANKS, STAKES
from tests.drill.records import NOTHING, Bets
from tests.drill.simulated_players import Stopwatch
from tests.drill.windows import OWN, REFUSED, TIMEOUT, Window

WHOLE = 100  # minor units
HALF = 0.5
SEATED = "#live-own[data-seat]"
ASKED = ".option button[name=action]"
WAIT_FOR_OTHERS = 1000  # milliseconds for a question to come
# The options on the page, each with its amount and its coup.
OFFERED = """() => {
    const round = document.querySelector('#live-public').dataset.round;
    return [...document.querySelectorAll('.option')].map((form) => {
        const button = form.querySelector('button[name=action]'), amount = form.querySelector('[name=amount]');
        return [round, button.value, button.id, amount ? amount.value : ''];
    });
}"""


@dataclass(frozen=True)
class Offer:
    """One option that the page offers to the player."""

    round_id: str
    value: str  # "lay_stake", or "make_call:banco"
    button: str
    amount: int | None  # minor units, as the page proposes it

    @property
    def action(self) -> str:
        """The action."""
        return self.value.partition(":")[0]

    @property
    def is_for_all(self) -> bool:
        """True if it answers for the whole bank, whose amount in minor units is not on the page."""
        return self.action in STAKES and self.amount is None


class CheminWindow(Window):
    """Sits down, chooses options at random, and gets up at the end."""

    CONFIRMED = "stake taken"
    READY = "#live-own"

    def leave(self) -> None:
        """Get up, and wait until the page shows that the place is free."""
        assert self._page
        watch = Stopwatch(self)
        while True:
            try:
                self._open(self._page)
                if not self._page.locator(SEATED).count():
                    return
                if self._page.locator("#seat-leave").count():
                    self._page.locator("#seat-leave").click()
                    if self._page.locator("#leave-now").count():
                        self._page.locator("#leave-now").click()
                self._page.wait_for_selector(SEATED, state="detached", timeout=WAIT_FOR_OTHERS)
            except Error:
                watch.demand_patience("a place at the table")

    def _play(self, page: Page) -> None:
        if not page.locator(SEATED).count():
            page.locator(".seat__sit").first.click()
            if not self._until(lambda: page.locator(SEATED).count() > 0):
                self._open(page)
            return
        if page.locator("#seat-back").count():
            page.locator("#seat-back").click()
            return
        offers = [each for each in self._offers(page) if not each.is_for_all]
        if not offers:
            with suppress(NobodyAsked):
                page.locator(ASKED).first.wait_for(timeout=WAIT_FOR_OTHERS)
            return
        does = [each for each in offers if each.action in (*STAKES, *BANKS, "deal_cards", "keep_bank")]
        self._do(page, self._less(page, self.chance.choice(does or offers)))

    def _less(self, page: Page, offer: Offer) -> Offer:
        """Leave something of a stake to the others, now and then: the page proposes all that is open."""
        if offer.action != "lay_stake" or not offer.amount or offer.amount < 2 * WHOLE or self.chance.random() < HALF:
            return offer
        amount = self.chance.randrange(1, offer.amount // WHOLE)
        page.locator(f"#{offer.button.replace('act-', 'amount-')}").fill(str(amount), timeout=WAIT_FOR_OTHERS)
        return replace(offer, amount=amount * WHOLE)

    def _offers(self, page: Page) -> list[Offer]:
        found = page.evaluate(OFFERED)
        return [Offer(round_id, value, button, _minor_units(text)) for round_id, value, button, text in found]

    def _do(self, page: Page, offer: Offer) -> None:
        """Click it. The possible results are recorded before the click; an answer then decides."""
        before = self.record.bets.get(offer.round_id, (NOTHING,))
        self._may_come_of(offer)
        text = self._sent(page, offer)
        if OWN not in text:
            self.done[f"{offer.action} not answered"] += 1
            self._open(page)
        elif REFUSED in text:
            self.done[f"{offer.action} refused"] += 1
            self._came_to_nothing(offer, before)
        else:
            self.done[self.CONFIRMED if offer.action in STAKES else f"{offer.action} taken"] += 1
            if offer.action in STAKES and offer.amount is not None:
                self.record.against.add(offer.round_id)
                self.record.lay(offer.round_id, {"punter": offer.amount})

    def _sent(self, page: Page, offer: Offer) -> str:
        """Return the answer to the page, or an empty text without an answer."""
        try:
            with page.expect_response(lambda answer: answer.url.endswith("/act/"), timeout=TIMEOUT) as answered:
                page.locator(f"#{offer.button}").click(timeout=WAIT_FOR_OTHERS)
            return answered.value.text() if answered.value.ok else ""
        except Error:
            return ""

    def _may_come_of(self, offer: Offer) -> None:
        if offer.action in STAKES and offer.amount is not None:
            self._may_lie(offer.round_id, NOTHING)
            self._may_lie(offer.round_id, {"punter": offer.amount})
        elif offer.action in BANKS and offer.amount is not None:
            self.record.banks.append(offer.amount)
        elif offer.action == "keep_bank":
            self.record.kept += 1

    def _came_to_nothing(self, offer: Offer, before: tuple[Bets, ...]) -> None:
        """Record a refusal: the possible stakes are again those *before* it."""
        if offer.action in STAKES and offer.amount is not None:
            self.record.bets[offer.round_id] = before
        elif offer.action in BANKS and offer.amount is not None:
            self.record.banks.remove(offer.amount)
        elif offer.action == "keep_bank":
            self.record.kept -= 1


def _minor_units(text: str) -> int | None:
    """Read an amount as the page writes it in English: "1,250.50", with any separator of thousands."""
    figure = re.sub(r"[^\d.]", "", text)
    return int(Decimal(figure) * WHOLE) if figure else None
