"""A proxy for the bank's messages that delivers them twice, late, or without an answer to the bank."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

LONGEST = 6.0  # seconds that a message is delayed, at most
PATIENCE = 60.0  # seconds for which a delayed message is repeated while the house does not accept it
TRY = 1.0  # seconds between two times
KEPT = ("Content-Type", "Sandbox-Bank-Signature")


class Way(StrEnum):
    """The way a message is delivered."""

    PROMPT = "at once"
    DOUBLED = "twice at the same time"
    DELAYED = "late, and once more"  # the bank has had the answer that it was accepted
    UNTOLD = "without an answer to the bank"  # which sends it again


WAYS = tuple(Way)


class Postman(ThreadingHTTPServer):
    """Takes the bank's messages at its own port and forwards them to the house at *house*."""

    daemon_threads = True

    def __init__(self, seed: str, longest: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._longest = longest
        self.house = 0  # its port, once it is open
        self.ways: Counter[Way] = Counter()
        self._chance = Random(seed)
        self._lock = threading.Lock()
        self._lying = 0

    @property
    def address(self) -> str:
        """The address to which the bank sends its messages: host and port."""
        return f"127.0.0.1:{self.server_port}"

    @property
    def is_idle(self) -> bool:
        """True if no message is waiting."""
        with self._lock:
            return self._lying == 0

    def choose(self) -> tuple[Way, float]:
        """Choose how the next message goes: each way in turn, with a random delay."""
        with self._lock:
            way = WAYS[self.ways.total() % len(WAYS)]
            self.ways[way] += 1
            return way, self._chance.uniform(0, self._longest)

    def bring(self, path: str, headers: dict[str, str], body: bytes) -> int:
        """Forward a message; return the status of the house's answer, 503 if there is none."""
        line = HTTPConnection("127.0.0.1", self.house, timeout=30)
        try:
            line.request("POST", path, body, headers)
            return line.getresponse().status
        except (OSError, HTTPException):
            return HTTPStatus.SERVICE_UNAVAILABLE
        finally:
            line.close()

    def bring_later(self, seconds: float, path: str, headers: dict[str, str], body: bytes) -> None:
        """Wait, then send it until it is accepted, and then once more."""
        with self._lock:
            self._lying += 1

        def go() -> None:
            time.sleep(seconds)
            until = time.monotonic() + PATIENCE
            while self.bring(path, headers, body) >= HTTPStatus.INTERNAL_SERVER_ERROR and time.monotonic() < until:
                time.sleep(TRY)
            self.bring(path, headers, body)
            with self._lock:
                self._lying -= 1

        threading.Thread(target=go, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Postman

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name: self.headers[name] for name in KEPT if name in self.headers}
        way, seconds = self.server.choose()
        if way is Way.DELAYED:
            self.server.bring_later(seconds, self.path, headers, body)
            self._answer(HTTPStatus.OK)
            return
        if way is Way.DOUBLED:
            twin = threading.Thread(target=self.server.bring, args=(self.path, headers, body))
            twin.start()
            status = self.server.bring(self.path, headers, body)
            twin.join()
        else:
            status = self.server.bring(self.path, headers, body)
        if way is not Way.UNTOLD:
            self._answer(status)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Do not log requests."""


@contextmanager
def a_postman(seed: str, longest: float = LONGEST) -> Iterator[Postman]:
    """Run a postman."""
    postman = Postman(seed, longest)
    thread = threading.Thread(target=postman.serve_forever, daemon=True)
    thread.start()
    try:
        yield postman
    finally:
        postman.shutdown()
        thread.join()
        postman.server_close()
