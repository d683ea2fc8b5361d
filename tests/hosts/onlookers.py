"""People of a house on many machines: one clicks, at a live table or in the lobby, one watches; both remember when they
were served.
"""

import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from itertools import pairwise

from tests.harness.visitor import Visitor
from tests.live.watcher import Watcher

PACE = 0.4  # seconds between two clicks
LOOK = 0.1
ENOUGH = 4  # clicks in a row


class Clicker(threading.Thread):
    """Asks for something again and again; *click* returns the status, each time over a connection of its own."""

    def __init__(self, click: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._click = click
        self.served: list[float] = []  # when a click was answered
        self.lost: list[float] = []  # when one was sent that was not
        self._is_over = threading.Event()

    def run(self) -> None:
        """Click until told to go home."""
        while not self._is_over.wait(PACE):
            began = time.monotonic()
            try:
                status = self._click()
            except (OSError, HTTPException):
                status = 0
            if status == HTTPStatus.OK:
                self.served.append(time.monotonic())
            else:
                self.lost.append(began)

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


def betting(visitor: Visitor, address: str, form: Callable[[], dict[str, object]]) -> Callable[[], int]:
    """Return the click of a player who sends a form."""
    return lambda: visitor.post(address, form())[0]


def looking(address: str, page: str, patience: float) -> Callable[[], int]:
    """Return the click of somebody who is not logged in and looks at a page."""

    def click() -> int:
        line = HTTPConnection(address, timeout=patience)
        try:
            line.request("GET", page)
            answer = line.getresponse()
            answer.read()
            return answer.status
        finally:
            line.close()

    return click


class Viewer(threading.Thread):
    """Watches a stream; one that ends is opened anew, as pages do."""

    def __init__(self, url: str, address: Callable[[], str]) -> None:
        super().__init__(daemon=True)
        self._url, self._address = url, address
        self.heard = 0.0  # when the last piece of news came
        self.opened = 0
        self._is_over = threading.Event()

    def run(self) -> None:
        """Watch until told to go home."""
        while not self._is_over.is_set():
            try:
                watcher = Watcher(self._url, self._address())
            except OSError:
                self._is_over.wait(LOOK)
                continue
            self.opened += 1
            seen = 0
            while not (watcher.is_over or self._is_over.wait(LOOK)):
                if len(watcher.bytes) > seen:
                    seen, self.heard = len(watcher.bytes), time.monotonic()
            watcher.close()

    def go_home(self) -> None:
        """Leave off."""
        self._is_over.set()
        self.join()
