"""Players in real Chromium who continue to play during the drill: they reload a page that does not answer."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs

from playwright.sync_api import Error, Page, Request, Response, sync_playwright

from tests.drill.records import NOTHING, Bets, Record
from tests.drill.simulated_players import SimulatedPlayer, Stopwatch
from tests.harness.browser import DESKTOP, FLAGS, find_chromium

PACE = 1.0  # seconds between two rounds
TIMEOUT = 15_000  # milliseconds until a page is opened again
LOOK = 0.1
BETS = ("player", "banker", "tie")
REFUSED = "call__notice--error"
OWN = 'id="live-own"'  # in every answer of a table at which others play
SHOWN = """(which) => [document.querySelector('#slip [name=round_id]').value, Object.fromEntries(
    [...document.querySelectorAll('.spot')].map(
        (spot) => [spot.id.replace('bet-', ''), spot.querySelector(`${which} .spot__stake`)?.innerText ?? '']))]"""
OPEN, ANY = ".spot__bet--open", ".spot__bet"  # the slip; and also what a round that is over has made of it


class Window(SimulatedPlayer):
    """A window of Chromium at a table, in the session of the cookies given."""

    READY = "#slip [name=round_id]"  # present on every page that was served

    def __init__(self, record: Record, seed: str, url: str, path: str, cookies: dict[str, str]) -> None:
        super().__init__(record, seed)
        self._url, self._path, self._cookies = url, path, cookies
        self._page: Page | None = None

    def run(self) -> None:
        """Play in a separate browser."""
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            context = browser.new_context(base_url=self._url, viewport=DESKTOP, reduced_motion="reduce")
            context.add_cookies(
                [{"name": name, "value": value, "url": self._url} for name, value in self._cookies.items()]
            )
            context.set_default_timeout(TIMEOUT)
            self._page = context.new_page()
            self._begin(self._page)
            super().run()
            browser.close()

    def _begin(self, page: Page) -> None:
        """Prepare the window once, before the page is opened."""

    def play(self) -> None:
        """Open the page if necessary, then do the next action on it."""
        assert self._page
        try:
            if self._page.locator(self.READY).count() == 0:
                self._open(self._page)
            self._play(self._page)
        except Error as error:
            self.done[f"opened again: {str(error).splitlines()[0][:60]}"] += 1
            self._open(self._page)
        self.pause(PACE)

    def _open(self, page: Page) -> None:
        watch = Stopwatch(self)
        while True:
            try:
                page.goto(self._path)
                if page.locator(self.READY).count():
                    watch.stop()
                    return
            except Error:
                pass
            self.done["page not served"] += 1
            watch.demand_patience(self._path)
            self.again()

    def _play(self, page: Page) -> None:
        raise NotImplementedError

    def _click(self, page: Page, holds: Callable[[], bool]) -> bool:
        """Put a chip on a bet; say whether something holds on the page before it is too late."""
        page.locator(f"#bet-{self.chance.choice(BETS)}").click()
        return self._until(holds)

    def _until(self, holds: Callable[[], bool]) -> bool:
        """Wait until something holds on the page; say whether it did in time."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() > began + TIMEOUT / 1000:
                return False
            time.sleep(LOOK)
        self.served.append((began, time.monotonic()))
        return True

    def _may_lie(self, round_id: str, bets: Bets) -> None:
        """Add a possible slip to the recorded ones."""
        self.record.bets[round_id] = (*self.record.bets.get(round_id, ()), dict(bets))


class SoloWindow(Window):
    """Deals at a solo table."""

    CONFIRMED = "dealt"

    def _play(self, page: Page) -> None:
        version = page.locator("[name=slip_version]").input_value()
        if not self._click(page, lambda: page.locator("[name=slip_version]").input_value() != version):
            self._open(page)
        round_id, stored = shown(page, OPEN)
        if not stored:
            return
        self._may_lie(round_id, stored)
        page.locator("#act-deal").click()
        if not self._until(lambda: shown(page, OPEN)[0] != round_id):
            self.done["deal not answered"] += 1
            self._open(page)
        if shown(page, OPEN)[0] != round_id:
            self.done["dealt"] += 1
            self.record.bets[round_id] = (stored,)
        else:
            self._may_lie(round_id, NOTHING)  # the deal may still come


@dataclass(frozen=True)
class Chip:
    """A chip that was sent: its round, its bet, and the possible slips before it."""

    round_id: str
    bet: str
    value: int
    before: tuple[Bets, ...]

    @property
    def after(self) -> tuple[Bets, ...]:
        """The possible slips once it is accepted."""
        return tuple({**stored, self.bet: stored.get(self.bet, 0) + self.value} for stored in self.before)


class SharedWindow(Window):
    """Bets at a shared table, whose rounds continue while somebody clicks: the request names its round, and
    only its answer gives the result. The page may by then show an earlier chip whose answer came too late.
    """

    CONFIRMED = "chip taken"

    def _begin(self, page: Page) -> None:
        self._forget()
        page.on("request", self._note)
        page.on("response", self._note_answer)

    def _forget(self) -> None:
        """Forget the last chip and its answer."""
        self._sent: Chip | None = None
        self._answer: Response | None = None

    def _note(self, request: Request) -> None:
        """Record that a chip may be on the table from now on."""
        if request.method == "POST" and request.url.endswith("/bet/"):
            sent = {name: values[0] for name, values in parse_qs(request.post_data or "").items()}
            self._send(sent["round_id"], sent["action"].removeprefix("bet:"), int(sent["chip"]))

    def _note_answer(self, response: Response) -> None:
        if response.request.method == "POST" and response.url.endswith("/bet/"):
            self._answer = response

    def _send(self, round_id: str, bet: str, value: int) -> None:
        self._sent = sent = Chip(round_id, bet, value, self.record.bets.get(round_id, (NOTHING,)))
        self.record.bets[round_id] = (*sent.before, *sent.after)

    def _play(self, page: Page) -> None:
        if page.locator("#bet-player").get_attribute("aria-disabled"):
            return
        self._forget()
        before = shown(page, ANY)[0]

        def is_over() -> bool:
            now = shown(page, ANY)[0]  # events are handled during this call
            return self._answer is not None or (self._sent is None and now != before)

        if not self._click(page, is_over):
            self.done["chip not answered"] += 1
            self._open(page)
        elif self._answer is None:
            self.done["chip too late"] += 1
        else:
            self._hear(self._answer.text() if self._answer.ok else "")

    def _hear(self, text: str) -> None:
        """Record the answer to the last chip sent; without an answer all slips remain possible."""
        assert self._sent
        if OWN not in text:
            self.done["chip not answered"] += 1
            return
        is_refused = REFUSED in text
        self.done["chip too late" if is_refused else "chip taken"] += 1
        self.record.bets[self._sent.round_id] = self._sent.before if is_refused else self._sent.after


def shown(page: Page, which: str) -> tuple[str, Bets]:
    """Return the round that the page shows and the stakes on it, bet by bet."""
    round_id, texts = page.evaluate(SHOWN, which)
    return round_id, {bet: int(re.sub(r"\D", "", text)) for bet, text in texts.items() if text}
