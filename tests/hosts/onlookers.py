"""People who use a house on several machines: bettors, readers of the lobby, watchers of a table. Each
records when it was served, and what.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from itertools import pairwise

from tests.harness.visitor import Visitor
from tests.live.watcher import Watcher

PACE = 0.4  # seconds between two clicks
LOOK = 0.1
ENOUGH = 4  # clicks in a row
REFUSED = "call__notice--error"
OWN = 'id="live-own"'  # in every answer to a click at a table
PUBLIC = "public"  # the event that shows the table itself
ROUND = re.compile(r'data-round="([0-9a-f-]{36})"')


class Unanswered(Exception):
    """The reply was not a valid answer."""


class Clicker(threading.Thread):
    """Asks for something again and again, each time over a new connection."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.served: list[float] = []  # when a click was answered
        self.lost: list[float] = []  # when one was sent that was not
        self._is_over = threading.Event()

    def click(self) -> None:
        """Ask. Raises Unanswered, and the errors of a cut connection."""
        raise NotImplementedError

    def run(self) -> None:
        """Click until asked to stop."""
        while not self._is_over.wait(PACE):
            began = time.monotonic()
            try:
                self.click()
            except (OSError, HTTPException, Unanswered):
                self.lost.append(began)
            else:
                self.served.append(time.monotonic())

    def go_home(self) -> None:
        """Leave off."""
        self._is_over.set()
        self.join()

    def is_served_since(self, moment: float) -> bool:
        """Say whether the last clicks were all answered, so many since then that each web machine had one."""
        last = self.served[-ENOUGH:]
        return len(last) == ENOUGH and last[0] > moment and not any(last[0] < lost for lost in self.lost)

    def longest_gap(self, since: float) -> float:
        """Return the longest time without an answer since a moment."""
        times = [since, *(each for each in self.served if each > since)]
        return max((later - sooner for sooner, later in pairwise(times)), default=0.0)


class Bettor(Clicker):
    """Puts chips on the round that *round_of* says; an answer may be a refusal, which puts nothing there."""

    def __init__(
        self, player: int, visitor: Visitor, page: str, form: Mapping[str, object], round_of: Callable[[], str]
    ) -> None:
        super().__init__()
        self.player = player
        self._visitor, self._page, self._form, self._round_of = visitor, page, form, round_of
        self.chip = int(str(form["chip"]))
        self.taken: Counter[str] = Counter()  # chips on the table by round, as the house reported
        self.doubtful: Counter[str] = Counter()  # chips that may be on it: no answer came
        self.refused = 0

    def click(self) -> None:
        """Put a chip there. Raises Unanswered."""
        round_id = self._round_of()
        self.doubtful[round_id] += 1
        status, text = self._visitor.post(self._page, {**self._form, "round_id": round_id})
        if status != HTTPStatus.OK or OWN not in text:
            raise Unanswered(status)
        self.doubtful[round_id] -= 1
        if REFUSED in text:
            self.refused += 1
        else:
            self.taken[round_id] += 1


class Looker(Clicker):
    """Somebody who is not logged in and looks at a page."""

    def __init__(self, address: str, page: str, patience: float) -> None:
        super().__init__()
        self._address, self._page, self._patience = address, page, patience

    def click(self) -> None:
        """Look at it. Raises Unanswered."""
        line = HTTPConnection(self._address, timeout=self._patience)
        try:
            line.request("GET", self._page)
            answer = line.getresponse()
            answer.read()
            if answer.status != HTTPStatus.OK:
                raise Unanswered(answer.status)
        finally:
            line.close()


class Viewer(threading.Thread):
    """Watches a stream; one that ends is opened again, as pages do. News is a table that looks another way: neither a
    refusal nor a sign of life.
    """

    def __init__(self, url: str, address: Callable[[], str]) -> None:
        super().__init__(daemon=True)
        self._url, self._address = url, address
        self.heard = 0.0  # when the last piece of news came
        self.rounds: dict[str, float] = {}  # when each was shown first
        self.opened: list[float] = []  # when a stream was, that brought news
        self.read = 0  # bytes of this stream, of any kind
        self._watcher: Watcher | None = None
        self._is_over = threading.Event()

    @property
    def port(self) -> int:
        """From which port of this machine the stream was opened; 0 while there is none."""
        watcher = self._watcher
        try:
            return int(watcher.line.getsockname()[1]) if watcher else 0
        except OSError:
            return 0

    def run(self) -> None:
        """Watch until told to go home."""
        while not self._is_over.is_set():
            began = time.monotonic()
            try:
                watcher = self._watcher = Watcher(self._url, self._address())
            except OSError:
                self._is_over.wait(LOOK)
                continue
            seen, self.read = "", 0
            while not (watcher.is_over or self._is_over.wait(LOOK)):
                seen = self._check(watcher, seen, began)
            self._watcher = None
            watcher.close()

    def _check(self, watcher: Watcher, seen: str, began: float) -> str:
        """Take in what the stream brought; return the number of the last event that showed the table."""
        if len(watcher.bytes) == self.read:
            return seen
        self.read = len(watcher.bytes)
        if not watcher.bytes.startswith(b"HTTP/1.1 200 "):
            return seen
        received = watcher.of(PUBLIC)
        if not received or received[-1].number == seen:
            return seen
        self.heard = time.monotonic()
        if not seen:
            self.opened.append(began)
        for each in received:
            if found := ROUND.search(each.html):
                self.rounds.setdefault(found[1], self.heard)
        return received[-1].number

    def hang_up(self) -> None:
        """Have the stream end, so that it is opened again."""
        if watcher := self._watcher:
            watcher.close()

    def go_home(self) -> None:
        """Leave off."""
        self._is_over.set()
        self.join()
