"""Reference operator as described in docs/seamless.md: an HTTP server with its own accounts.

It shares no code with the project. A test can make it slow, fail, disconnect after booking, answer
twice, or send invalid data.
"""

import hashlib
import hmac
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

BASE: Final = "/wallet/"
WINDOW: Final = 60  # seconds


class Fault(Enum):
    """The fault of a request."""

    ERROR = auto()  # 500, nothing booked
    HANG_UP_BEFORE = auto()  # nothing booked, no answer
    HANG_UP_AFTER = auto()  # booked, no answer
    ERROR_AFTER = auto()  # booked, and 500
    SILENT_AFTER = auto()  # booked, and never an answer
    DRIP = auto()  # booked, and one byte at a time
    TWICE = auto()  # the answer is sent twice on the connection
    GARBAGE = auto()  # booked, and the answer is not JSON
    HOSTILE = auto()  # booked, and the answer has a field whose name no database stores
    OTHER = auto()  # booked, and the answer is for another transaction
    ENDLESS = auto()  # booked, and the answer is far too long
    REDIRECT = auto()  # not booked, and redirected
    TEAPOT = auto()  # not booked, and a 4xx that is not a problem document


class Refusal(Exception):
    """A problem answer: status and code."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


@dataclass
class Transaction:
    """A booked transaction and its answer."""

    asked: dict[str, Any]
    kind: str
    changed: int  # added to the player's balance
    answer: dict[str, Any]
    taken_back: bool = False


@dataclass
class Host:
    """The operator: its players, balances and transactions."""

    key: str
    secret: str
    currency: str = "SEK"
    port: int = 0
    balances: dict[str, int] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)
    booked: dict[str, Transaction] = field(default_factory=dict)
    tombs: set[str] = field(default_factory=set)  # rolled back before they arrived
    faults: dict[str, deque[Fault]] = field(default_factory=dict)
    refusals: dict[str, deque[str]] = field(default_factory=dict)
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: threading.Event = field(default_factory=threading.Event)  # a request whose fault waits has arrived
    go_on: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        """The base URL of the wallet."""
        return f"http://127.0.0.1:{self.port}{BASE}"

    def fail(self, kind: str, *faults: Fault) -> None:
        """Let the next requests of a kind fail with these faults."""
        self.faults.setdefault(kind, deque()).extend(faults)

    def refuse(self, kind: str, *codes: str) -> None:
        """Refuse the next requests of a kind."""
        self.refusals.setdefault(kind, deque()).extend(codes)

    def named(self, kind: str) -> list[dict[str, Any]]:
        """Return all requests of a kind in order, repetitions included."""
        return [said for what, said in self.heard if what == kind]

    def accepted(self, kind: str) -> list[Transaction]:
        """Return the transactions of a kind that were booked and not rolled back."""
        return [each for each in self.booked.values() if each.kind == kind and not each.taken_back]

    # Behaviour
    # -------------------------------------------------------------------------------------------------------

    def answer(self, kind: str, said: dict[str, Any]) -> dict[str, Any]:
        """Book the request and return the answer. Raises Refusal."""
        with self.lock:
            self.heard.append((kind, said))
            if waiting := self.refusals.get(kind):
                raise Refusal(409, waiting.popleft())
            player = said["player"]
            if player not in self.balances:
                raise Refusal(404, "unknown-player")
            if kind == "balance":
                return {"player": player, "balance": self.balances[player], "currency": self.currency}
            known = self.booked.get(said["transaction"])
            if known:
                if known.asked != said or known.kind != kind:
                    raise Refusal(409, "transaction-conflict")
                return known.answer
            if said["currency"] != self.currency:
                raise Refusal(409, "wrong-currency")
            changed = getattr(self, f"_{kind}")(player, said)
            self.balances[player] += changed
            answer = {
                "transaction": said["transaction"],
                "reference": f"r{len(self.booked)}" if changed else None,
                "balance": self.balances[player],
                "currency": self.currency,
            }
            self.booked[said["transaction"]] = Transaction(said, kind, changed, answer)
            return answer

    def _bet(self, player: str, said: dict[str, Any]) -> int:
        if said["session"] not in self.sessions:
            raise Refusal(409, "session-over")
        if said["transaction"] in self.tombs:
            raise Refusal(409, "already-rolled-back")
        if said["amount"] > self.balances[player]:
            raise Refusal(409, "insufficient-funds")
        return -int(said["amount"])

    def _win(self, player: str, said: dict[str, Any]) -> int:
        bets = [each for each in self.accepted("bet") if each.asked["player"] == player]
        if not any(each.asked["round"] == said["round"] for each in bets):
            raise Refusal(409, "no-bet")
        if said["transaction"] in self.tombs:
            raise Refusal(409, "already-rolled-back")
        return int(said["amount"])

    def _rollback(self, player: str, said: dict[str, Any]) -> int:
        taken = self.booked.get(said["takes_back"])
        if taken is None:
            self.tombs.add(said["takes_back"])
            return 0
        if taken.taken_back:
            return 0
        wins = [each for each in self.accepted("win") if each.asked["round"] == taken.asked["round"]]
        if taken.kind == "bet" and wins:
            raise Refusal(409, "round-won")
        if self.balances[player] < taken.changed:
            raise Refusal(409, "insufficient-funds")
        taken.taken_back = True
        return -taken.changed

    def check(self, path: str, headers: Any, body: bytes) -> None:
        """Check the signature. Raises Refusal."""
        at = headers.get("Sabot-Time", "")
        message = f"{at}\nPOST\n{path}\n".encode() + body
        right = hmac.new(self.secret.encode(), message, hashlib.sha256).hexdigest()
        if headers.get("Sabot-Key") != self.key or headers.get("Sabot-Signature") != right:
            raise Refusal(401, "bad-signature")
        if abs(time.time() - int(at)) > WINDOW:
            raise Refusal(401, "outside-window")


@contextmanager
def reference_host(key: str, secret: str, *, currency: str = "SEK") -> Iterator[Host]:
    """Run an operator in threads of this process, on a real socket, until the block ends."""
    host = Host(key, secret, currency)
    server = _Server(("127.0.0.1", 0), _Requests)
    server.daemon_threads = True
    server.host, host.port = host, server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        host.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    host: Host


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer one request, with the next fault for its kind."""
        host = self.server.host
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        kind = self.path.removeprefix(BASE).strip("/")
        faults = host.faults.get(kind)
        fault = faults.popleft() if faults else None
        match fault:
            case Fault.ERROR:
                return self._say(500, b"")
            case Fault.TEAPOT:
                return self._say(418, b"<h1>no</h1>")
            case Fault.REDIRECT:
                return self._say(307, b"", Location=f"http://127.0.0.1:{host.port}{self.path}")
            case Fault.HANG_UP_BEFORE:
                return self._hang_up()
        status, said = self._answer(host, kind, body)
        match fault:
            case Fault.HANG_UP_AFTER:
                return self._hang_up()
            case Fault.ERROR_AFTER:
                return self._say(500, b"")
            case Fault.SILENT_AFTER:
                host.asked.set()
                host.go_on.wait()
                return self._hang_up()
            case Fault.DRIP:
                return self._drip(host)
            case Fault.GARBAGE:
                return self._say(200, b"\xff{")
            case Fault.HOSTILE:
                return self._say(200, json.dumps({"\0\ud800": 1}).encode())
            case Fault.ENDLESS:
                return self._say(200, b'{"transaction":"' + b"x" * 1_000_000)
            case Fault.OTHER:
                return self._say(200, json.dumps(said | {"transaction": "another"}).encode())
        self._say(status, json.dumps(said).encode())
        if fault is Fault.TWICE:
            self._say(status, json.dumps(said).encode())
        return None

    def _answer(self, host: Host, kind: str, body: bytes) -> tuple[int, dict[str, Any]]:
        try:
            host.check(self.path, self.headers, body)
            return 200, host.answer(kind, json.loads(body))
        except Refusal as refused:
            problem = {"type": "about:blank", "title": refused.code, "status": refused.status, "code": refused.code}
            return refused.status, problem

    def _say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _drip(self, host: Host) -> None:
        """Send single bytes, each before the socket timeout of the client."""
        self.send_response(200)
        self.end_headers()
        try:
            while not host.go_on.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            pass
        self.close_connection = True

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *args: object) -> None:
        """Log nothing."""
