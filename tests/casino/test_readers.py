"""Slow readers: no thread waits for them, and a reader that takes nothing is disconnected."""

import asyncio
import socket
from http.client import HTTPConnection
from typing import Any

from a2wsgi import WSGIMiddleware

from ops.http.request_buffer import Limits, Readers
from tests.harness.apart import run_apart

PIECE = 1000
GONE = {"type": "http.disconnect"}
START = {"type": "http.response.start", "status": 200, "headers": []}


class Line:
    """A connection to a reader that takes *takes* messages and then none until *reads* is set."""

    def __init__(self, takes: int) -> None:
        self.transport = self
        self.passed: list[Any] = []
        self.is_cut = False
        self.reads = asyncio.Event()
        self._takes = takes

    async def send(self, message: Any) -> None:
        if len(self.passed) >= self._takes:
            await self.reads.wait()
        self.passed.append(message)

    async def receive(self) -> Any:
        return GONE

    def abort(self) -> None:
        self.is_cut = True

    @property
    def size(self) -> int:
        return sum(len(message.get("body", b"")) for message in self.passed)


def an_answer(pieces: int, written: list[int]) -> Any:
    """An application that answers in this number of pieces and records how many were taken."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send(START)
        for number in range(pieces):
            await send({"type": "http.response.body", "body": b"x" * PIECE, "more_body": True})
            written.append(number)
        await send({"type": "http.response.body", "body": b""})

    return application


def run(work: Any) -> Any:
    """Run it for at most half a minute."""
    return run_apart(asyncio.wait_for(work, 30))


def serve(pieces: int, *, takes: int, limits: Limits) -> tuple[Line, list[int], Readers]:
    """Send an answer completely."""
    written: list[int] = []
    readers = Readers(an_answer(pieces, written), limits)

    async def work() -> Line:
        line = Line(takes)
        await readers({"type": "http"}, line.receive, line.send)
        return line

    return run(work()), written, readers


def test_whoever_reads_gets_all_of_it_in_its_order():
    line, _written, readers = serve(50, takes=1000, limits=Limits(of_one=3 * PIECE))
    assert line.passed[0] == START
    assert (line.size, line.passed[-1].get("more_body")) == (50 * PIECE, None)
    assert (line.is_cut, readers.kept) == (False, 0)


def test_whoever_writes_need_not_wait_for_a_slow_reader():
    written: list[int] = []
    readers = Readers(an_answer(50, written), Limits())

    async def work() -> tuple[int, Line]:
        line = Line(1)
        registers_of = asyncio.create_task(readers({"type": "http"}, line.receive, line.send))
        while len(written) < 50:
            await asyncio.sleep(0)
        waiting = readers.kept
        line.reads.set()
        await registers_of
        return waiting, line

    waiting, line = run(work())
    assert waiting == 50 * PIECE
    assert (line.size, line.is_cut, readers.kept) == (50 * PIECE, False, 0)


def test_of_a_long_answer_only_so_much_is_kept():
    written: list[int] = []
    readers = Readers(an_answer(50, written), Limits(of_one=10 * PIECE))

    async def work() -> tuple[int, Line]:
        line = Line(1)
        registers_of = asyncio.create_task(readers({"type": "http"}, line.receive, line.send))
        while readers.kept < 10 * PIECE:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        kept = readers.kept
        line.reads.set()
        await registers_of
        return kept, line

    kept, line = run(work())
    assert kept == 10 * PIECE
    assert line.size == 50 * PIECE


def test_whoever_takes_nothing_is_hung_up_on_and_the_writer_comes_to_its_end():
    line, written, readers = serve(50, takes=5, limits=Limits(of_one=3 * PIECE, patience=0.05))
    assert line.is_cut
    assert len(line.passed) == 5
    assert len(written) == 50
    assert readers.kept == 0


def test_whoever_takes_next_to_nothing_is_hung_up_on_too():
    """One piece just before each timeout is not reading."""

    class Drip(Line):
        async def send(self, message: Any) -> None:
            await asyncio.sleep(0.04)
            self.passed.append(message)

    readers = Readers(an_answer(50, []), Limits(of_one=3 * PIECE, patience=0.1, pace=1_000_000))

    async def work() -> Line:
        line = Drip(0)
        await readers({"type": "http"}, line.receive, line.send)
        return line

    line = run(work())
    assert line.is_cut
    assert len(line.passed) < 10


def test_where_many_are_slow_there_is_room_for_those_who_read():
    readers = Readers(an_answer(50, []), Limits(of_all=20 * PIECE))

    async def work() -> tuple[Line, Line]:
        slower, quick = Line(1), Line(1000)
        readers.kept += 20 * PIECE  # of other connections
        await readers({"type": "http"}, slower.receive, slower.send)
        await readers({"type": "http"}, quick.receive, quick.send)
        readers.kept -= 20 * PIECE
        return slower, quick

    slower, quick = run(work())
    assert slower.is_cut
    assert (quick.is_cut, quick.size) == (False, 50 * PIECE)
    assert readers.kept == 0


def test_the_thread_behind_a_reader_who_is_hung_up_on_is_free_again():
    """`a2wsgi` waits forever if its sending side fails."""

    def pages(environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [])
        return (b"x" * PIECE for _ in range(200))

    threads = WSGIMiddleware(pages, workers=1)
    readers = Readers(threads, Limits(of_one=3 * PIECE, patience=0.05))  # type: ignore[arg-type]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "http_version": "1.1", "headers": []}

    async def work() -> tuple[Line, Line]:
        slow, quick = Line(3), Line(1000)
        await readers(dict(scope), slow.receive, slow.send)
        await readers(dict(scope), quick.receive, quick.send)
        return slow, quick

    slow, quick = run(work())
    assert slow.is_cut
    assert quick.size == 200 * PIECE


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
