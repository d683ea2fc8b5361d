"""A player of a drill: a thread that repeats actions until it is stopped. It fails on an answer that
it does not know.
"""

import threading
import time
import traceback
from collections import Counter
from collections.abc import Collection
from http import HTTPStatus
from random import Random
from typing import Any, ClassVar
from urllib.parse import urljoin

import requests

from tests.drill.records import Record

PATIENCE = 180.0  # seconds within which anybody is served again, on a machine that is busy
TIMEOUT = 20.0  # seconds until what was asked is taken for lost
AGAIN = 0.3  # seconds until something is tried once more


class Unserved(Exception):
    """The house has not answered for longer than it may."""


class SimulatedPlayer(threading.Thread):
    """One client of the house, with its own record."""

    CONFIRMED: ClassVar[str]  # what of `done` shows that something of the player's was taken
    PAYS: ClassVar[bool] = False  # in and out, and does not play

    def __init__(self, record: Record, seed: str) -> None:
        super().__init__(daemon=True, name=record.name)
        self.record = record
        self.chance = Random(f"{seed} {record.name}")
        self.done: Counter[str] = Counter()  # what was answered, by what it was
        self.faults: list[str] = []
        self.served: list[tuple[float, float]] = []  # from when to when something was waited for
        self._is_over = threading.Event()

    @property
    def is_over(self) -> bool:
        """True if the player was asked to stop."""
        return self._is_over.is_set()

    def play(self) -> None:
        """Do the next thing."""
        raise NotImplementedError

    def leave(self) -> None:
        """Do the last actions before the end."""

    def pause(self, seconds: float) -> None:
        """Wait about so long, or less if the player is asked to stop."""
        self._is_over.wait(seconds * self.chance.uniform(0.5, 1.5))

    def again(self) -> None:
        """Wait until the next try, also if the player is asked to stop."""
        time.sleep(AGAIN)

    def go_home(self) -> None:
        """Ask the player to stop."""
        self._is_over.set()

    def run(self) -> None:
        """Play until it is over."""
        try:
            while not self.is_over:
                self.play()
            self.leave()
        except Exception:  # noqa: BLE001  (any exception is a finding of the drill)
            self.faults.append(f"{self.name}: {traceback.format_exc()}")

    def longest_wait(self, since: float, until: float) -> float:
        """Return the longest wait for an answer between two moments."""
        waits = [ended - began for began, ended in list(self.served) if ended > since and began < until]
        return max(waits, default=0.0)


class Stopwatch:
    """Measures how long a player waits in its block, and reports waits that are too long."""

    def __init__(self, simulated_player: SimulatedPlayer) -> None:
        self._player, self._began = simulated_player, time.monotonic()

    def demand_patience(self, what: str) -> None:
        """Raise Unserved if the player has waited for too long."""
        if time.monotonic() > self._began + PATIENCE:
            raise Unserved(what)

    def stop(self) -> None:
        """Record the end of the wait."""
        self._player.served.append((self._began, time.monotonic()))


class Caller(SimulatedPlayer):
    """Speaks HTTP with the house at *url*, and asks again until it is answered."""

    def __init__(self, record: Record, seed: str, url: str) -> None:
        super().__init__(record, seed)
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def ask(self, method: str, path: str, *, not_yet: Collection[HTTPStatus] = (), **options: Any) -> requests.Response:
        """Return the answer. Repeat the request after a server error, a status in *not_yet*, or no answer.

        Raises Unserved.
        """
        watch = Stopwatch(self)
        while True:
            try:
                url = urljoin(self._url, path)
                answer = self._session.request(method, url, timeout=TIMEOUT, allow_redirects=False, **options)
                if answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and answer.status_code not in not_yet:
                    watch.stop()
                    return answer
                why = str(answer.status_code)
            except requests.RequestException as error:
                why = type(error).__name__
            self.done[f"unanswered: {why}"] += 1
            watch.demand_patience(f"{method} {path}: {why}")
            self.again()
