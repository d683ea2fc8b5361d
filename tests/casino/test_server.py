"""The web server: heads of requests within limits, and no work while nothing happens."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import uvicorn

from ops.http import server
from ops.http.server import Connection, Server
from ops.launcher import listening_socket
from tests.harness.product import PROJECT

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLOSING = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what was asked."""
    if scope["type"] != "http":
        raise NotImplementedError
    body = b""
    while True:
        message = await receive()
        body += message["body"]
        if not message["more_body"]:
            break
    body = body or scope["path"].encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


class Running:
    """A server in its own thread, on a free port."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        config = uvicorn.Config(application, http=Connection, ws="none", loop="asyncio", log_config=None)
        self.server = Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.listening],))

    def open(self) -> socket.socket:
        """Open a connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def ask(self, *sent: bytes) -> bytes:
        """Send this over one connection and return what comes until the server closes it."""
        with self.open() as line:
            for each in sent:
                line.sendall(each)
            return line.makefile("rb").read()


@contextmanager
def running() -> Iterator[Running]:
    """A running server."""
    house = Running()
    house.thread.start()
    try:
        yield house
    finally:
        house.server.handle_exit(signal.SIGTERM, None)
        house.thread.join(10)
        assert not house.thread.is_alive()


@pytest.fixture
def house() -> Iterator[Running]:
    with running() as found:
        yield found


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SECONDS_FOR_A_HEAD", 0.05)


def until_its_end(line: socket.socket) -> bytes:
    """Return what comes until the server ends the connection: with a reset if it had not read everything."""
    said = b""
    with suppress(ConnectionResetError):
        while piece := line.recv(65_536):
            said += piece
    return said


def statuses(said: bytes) -> list[str]:
    return [each.decode() for each in re.findall(rb"HTTP/1\.1 (\d+)", said)]


@pytest.mark.usefixtures("hasty")
class TestHeads:
    def test_a_silent_client_is_disconnected(self, house):
        assert house.ask() == b""

    def test_an_unfinished_head_is_answered_with_an_error(self, house):
        assert statuses(house.ask(GET[:-2])) == ["408"]

    def test_nor_one_that_trickles(self, house):
        with house.open() as line:
            line.sendall(GET[:10])
            line.sendall(GET[10:20])
            assert statuses(line.makefile("rb").read()) == ["408"]

    def test_the_next_head_of_a_connection_has_as_long(self, house):
        assert statuses(house.ask(GET, GET[:-2])) == ["200", "408"]

    def test_a_body_that_is_late_is_not_the_heads_affair(self, house):
        with house.open() as line:
            line.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab")
            assert house.ask(GET[:-2])  # which takes longer than a head may
            line.sendall(b"cd")
            assert line.recv(15) == b"HTTP/1.1 200 OK"


def test_an_endless_head_is_refused(house):
    line = b"X-Long: " + b"x" * 8000 + b"\r\n"
    assert statuses(house.ask(b"GET / HTTP/1.1\r\n", *[line] * 9)) == ["431"]


def test_no_answer_waits_for_the_browser_to_acknowledge_half(monkeypatch):
    """`serve` sets TCP_NODELAY on the listening socket, the one that launcher opened, and connections inherit it."""
    accepted = []

    def run(self: Server, sockets: list[socket.socket]) -> None:
        (listening,) = sockets
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as line:
            accepted.append(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(Server, "run", run)
    with listening_socket(0) as listening:
        server.serve(application, listening, graceful=3)
    assert accepted == [1]


def test_of_too_many_incomplete_heads_the_oldest_ends(house, monkeypatch):
    monkeypatch.setattr(server, "INCOMPLETE_HEADS", 2)
    lines = [house.open() for _ in range(2)]
    for line in lines:
        line.sendall(GET[:10])
    assert house.ask(CLOSING)
    assert until_its_end(lines[0])[:12] in (b"HTTP/1.1 408", b"")
    lines[1].sendall(GET[10:])
    assert lines[1].recv(15) == b"HTTP/1.1 200 OK"
    for line in lines:
        line.close()


def test_gli19_b_4_3_what_is_no_request_is_refused(house):
    assert statuses(house.ask(b"no request\r\n\r\n")) == ["400"]


def test_requests_one_after_the_other_and_at_once(house):
    last = CLOSING.replace(b"/ ", b"/last ")
    said = house.ask(GET + GET.replace(b"/ ", b"/second "), last)
    assert statuses(said) == ["200", "200", "200"]
    assert said.index(b"/second") < said.index(b"/last")


def test_the_first_to_ask_may_send(house):
    head = (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
    )
    with house.open() as line:
        line.sendall(head)
        assert line.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(b"abcd")
        assert line.makefile("rb").read().endswith(b"\r\n\r\nabcd")


def test_an_answer_is_dated(house):
    said = house.ask(CLOSING)
    assert re.search(rb"\r\ndate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n", said)


def test_nothing_wakes_a_server_that_nobody_asks(monkeypatch):
    """No timer is due and no callback waits: it sleeps until a connection or a signal comes."""
    asleep = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []
    found: list[Any] = []

    def look() -> None:
        found.append(list(loops[0]._scheduled))  # type: ignore[attr-defined]
        asleep.set()

    async def checked(self: Server) -> None:
        loops.append(asyncio.get_running_loop())
        loops[0].call_soon(loops[0].call_soon, look)
        await before(self)

    before = Server.main_loop
    monkeypatch.setattr(Server, "main_loop", checked)
    with running():
        assert asleep.wait(10)
        assert found == [[]]


def test_the_application_is_imported_before_the_loop_runs(tmp_path):
    """Its start asks the database, which Django refuses while a loop runs in the thread."""
    (tmp_path / "starting.py").write_text(
        "import asyncio\n"
        "try:\n"
        "    asyncio.get_running_loop()\n"
        "except RuntimeError:\n"
        "    print('no loop runs')\n"
        "raise SystemExit(3)\n"
    )
    command = [sys.executable, "-m", "ops.http.server", "starting:application", "--host", "127.0.0.1", "--port", "0"]
    path = os.pathsep.join([str(tmp_path), str(PROJECT)])
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": path},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (3, "no loop runs\n"), done.stderr
