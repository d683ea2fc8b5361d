"""The proxy that repeats and delays messages, in front of a server that counts them."""

import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection, RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.drill.postman import WAYS, Postman, Way, a_postman
from tests.start.support import wait_until

# Deliveries of each message: once; twice; late and once more; once, and the bank does not learn of it.
TIMES = {Way.PROMPT: 1, Way.DOUBLED: 2, Way.DELAYED: 2, Way.UNTOLD: 1}


class Listener(ThreadingHTTPServer):
    """Records what arrives; refuses the first so many messages."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard: list[tuple[str, str, bytes]] = []
        self.refuse = 0


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.refuse, refused = max(self.server.refuse - 1, 0), self.server.refuse > 0
        if not refused:
            self.server.heard.append((self.path, self.headers["Sandbox-Bank-Signature"], body))
        self.send_response(HTTPStatus.SERVICE_UNAVAILABLE if refused else HTTPStatus.OK)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def postman(listener) -> Iterator[Postman]:
    with a_postman("any", longest=0.2) as postman:
        postman.house = listener.server_port
        yield postman


def send(postman: Postman, text: str) -> int:
    line = HTTPConnection("127.0.0.1", postman.server_port, timeout=60)
    try:
        headers = {"Content-Type": "application/json", "Sandbox-Bank-Signature": f"of {text}"}
        line.request("POST", f"/pay/{text}/", text.encode(), headers)
        return line.getresponse().status
    finally:
        line.close()


def answered(postman: Postman, way: Way) -> int | None:
    """Return the status that the bank receives; None if it gets no answer."""
    try:
        return send(postman, way.name)
    except RemoteDisconnected:
        return None


def test_every_message_comes_as_it_was_signed_as_often_and_as_late_as_its_way_has_it(postman, listener):
    shown = {way: answered(postman, way) for way in WAYS}
    assert shown == dict.fromkeys(WAYS, HTTPStatus.OK) | {Way.UNTOLD: None}
    wait_until(lambda: postman.is_idle, "what lay is brought")
    for way, times in TIMES.items():
        assert listener.heard.count((f"/pay/{way.name}/", f"of {way.name}", way.name.encode())) == times


@pytest.mark.sweep
def test_what_was_delayed_is_brought_until_it_is_taken(postman, listener):
    for _ in WAYS[: WAYS.index(Way.DELAYED)]:
        postman.choose()
    listener.refuse = 2
    assert send(postman, "late") == HTTPStatus.OK
    wait_until(lambda: postman.is_idle, "what lay is brought")
    assert len(listener.heard) == 2
