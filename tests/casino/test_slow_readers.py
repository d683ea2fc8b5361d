"""Slow readers: no thread waits for them, and a reader that takes nothing is disconnected."""

import asyncio
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import pytest

from ops.http.bodies import Allowance, Bodies
from ops.http.pages import CONNECTION, Limits, Pages
from tests.harness.apart import run_apart

PIECE = 1000
SCOPE = {"method": "GET", "path": "/", "query_string": b"", "http_version": "1.1", "headers": []}
QUICK = 1_000_000_000


class Line:
    """A connection whose reader takes *takes* bytes each time that its buffer is looked at."""

    def __init__(self, takes: int) -> None:
        self.transport = self
        self.passed: list[Any] = []
        self.is_cut = False
        self.takes = takes
        self.unread = self.most_unread = 0

    async def send(self, message: Any) -> None:
        self.passed.append(message)
        self.unread += len(message.get("body", b""))
        self.most_unread = max(self.most_unread, self.unread)

    async def receive(self) -> Any:
        return {"type": "http.request", "body": b""}

    def get_write_buffer_size(self) -> int:
        self.unread = max(0, self.unread - self.takes)
        return self.unread

    def is_closing(self) -> bool:
        return self.is_cut

    def abort(self) -> None:
        self.is_cut = True

    @property
    def size(self) -> int:
        return sum(len(message.get("body", b"")) for message in self.passed)


class Page:
    """A WSGI application that answers in pieces and counts how many were taken."""

    def __init__(self, pieces: int) -> None:
        self.pieces = pieces
        self.written = 0
        self.is_closed = False

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return self

    def __iter__(self) -> Any:
        for number in range(self.pieces):
            self.written += 1
            yield b"%d" % (number % 10) * PIECE

    def close(self) -> None:
        self.is_closed = True


async def nobody(scope: Any) -> str:
    return ""


def serve(page: Page, *lines: Line, threads: int = 2, at_once: bool = False, kept: int = 0, **limits: Any) -> Pages:
    """Answer each of these readers, one after the other or all at once."""
    defaults = {"piece": 2 * PIECE, "of_one": 5 * PIECE, "patience": 0.05, "poll": 0.001}

    async def work() -> Pages:
        with ThreadPoolExecutor(threads) as pool:
            pages = Pages(
                page,
                threads=pool,
                bodies=Bodies(nobody, ordinary=Allowance(PIECE)),
                refusal=lambda scope, status: ([], b""),
                limits=Limits(**{**defaults, **limits}),
            )
            pages.unsent = kept
            answers = [pages({**SCOPE, CONNECTION: line}, line.receive, line.send) for line in lines]
            if at_once:
                await asyncio.gather(*answers)
            else:
                for answer in answers:
                    await answer
            assert pages.unsent == kept
            return pages

    return run_apart(asyncio.wait_for(work(), 30))


def test_a_reader_gets_everything_in_order():
    page, line = Page(50), Line(QUICK)
    serve(page, line)
    assert line.passed[0] == {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"content-type", b"text/plain")],
    }
    assert b"".join(each["body"] for each in line.passed[1:]) == b"".join(Page(50)({}, lambda *_: None))
    assert [each["more_body"] for each in line.passed[1:]] == [*[True] * (len(line.passed) - 2), False]
    assert (line.is_cut, page.is_closed) == (False, True)


def test_a_page_is_passed_on_in_two_messages():
    line = Line(QUICK)
    serve(Page(2), line)
    assert len(line.passed) == 2


def test_no_thread_waits_for_the_reader_of_a_page():
    """The other page is served while nobody has read the first."""
    slow, quick = Line(0), Line(QUICK)
    serve(Page(2), slow, quick, threads=1, at_once=True, patience=0.5)
    assert (slow.is_cut, quick.is_cut, quick.size) == (True, False, 2 * PIECE)


def test_of_a_long_answer_only_so_much_is_kept():
    line = Line(PIECE)
    serve(Page(50), line, patience=30)
    assert (line.most_unread <= 5 * PIECE + PIECE, line.size) == (True, 50 * PIECE)


def test_a_client_that_reads_nothing_is_disconnected_and_the_writer_ends():
    page, line = Page(50), Line(0)
    serve(page, line)
    assert line.is_cut
    assert line.size < 10 * PIECE
    assert (page.is_closed, page.written < 50) == (True, True)


def test_a_client_that_reads_nothing_of_a_short_answer_is_disconnected_too():
    line = Line(0)
    serve(Page(1), line)
    assert (line.is_cut, line.size) == (True, PIECE)


def test_a_client_that_reads_almost_nothing_is_disconnected_too():
    line = Line(1)
    serve(Page(50), line, pace=1_000_000)
    assert line.is_cut
    assert line.size < 10 * PIECE


def test_where_many_are_slow_there_is_room_for_those_who_read():
    slower, quick = Line(0), Line(QUICK)
    serve(Page(3), slower, quick, kept=20 * PIECE, of_all=20 * PIECE, patience=10)
    assert slower.is_cut
    assert (quick.is_cut, quick.size) == (False, 3 * PIECE)


def test_the_thread_behind_a_reader_who_is_hung_up_on_is_free_again():
    slow, quick = Line(0), Line(QUICK)
    serve(Page(50), slow, quick, threads=1)
    assert slow.is_cut
    assert quick.size == 50 * PIECE


def test_what_a_page_raises_reaches_the_server():
    def broken(environ: Any, start_response: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        serve(broken, Line(QUICK))  # type: ignore[arg-type]


def test_slow_readers_keep_nobody_else_waiting(start_server):
    server = start_server(environment={"WEB_THREADS": "2"})
    asked = (
        b"GET /static/drf_spectacular_sidecar/redoc/bundles/redoc.standalone.js.map HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    slow = []
    try:
        for _ in range(4):
            reader = socket.socket()
            reader.settimeout(10)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            reader.connect(("127.0.0.1", server.port))
            reader.sendall(asked)
            slow.append(reader)
        for reader in slow:
            assert reader.recv(15) == b"HTTP/1.1 200 OK"
        quick = HTTPConnection("127.0.0.1", server.port, timeout=10)
        quick.request("GET", "/en/fair/")
        assert quick.getresponse().status == 200
        quick.close()
    finally:
        for reader in slow:
            reader.close()
