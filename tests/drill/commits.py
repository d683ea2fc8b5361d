"""A proxy between the processes and PostgreSQL that can cut a connection at COMMIT, so that the sender
does not learn its outcome.

Only connections whose transaction has moved money are cut. The proxy reads PostgreSQL's protocol
(3.0, "Message Formats"), a type and a length before every message, and forwards everything
unchanged.
"""

import asyncio
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

COMMIT = b"COMMIT"
ENDS = (COMMIT, b"ROLLBACK")
QUERY, PARSE, BIND, SYNC = b"Q", b"P", b"B", b"S"  # types of messages
READY = b"Z\0\0\0\x05I"  # the end of an answer, outside of a transaction
MOVES = re.compile(
    rb"\b(?:wallet_(?:post|reverse|adjust|hold|release_holds)"
    rb"|games_(?:finish_solo_round|settle_live_round|place_bets|store_void_round))\("
)
CALLS = b"players_api_call"  # stores the answer to an API client, in the transaction of its call
STARTED = 3  # the major version in the message that starts a connection: after it messages have a type
HEADER = struct.Struct("!I")
READ = 65536  # bytes at once
LATE = 1.0  # seconds: longer than the person who is cut off takes to ask again
PATIENCE = 10.0  # seconds for PostgreSQL to answer what nobody else hears


class Action(StrEnum):
    """The purpose of a transaction."""

    CALL = "a program's call"  # API clients repeat a call until it is answered
    MOVE = "another move of money"  # a click's, a phase's, a payment's

    @classmethod
    def of(cls, statements: bytes) -> "Action | None":
        """Read it from the statements sent; None if no money moved."""
        if not MOVES.search(statements):
            return None
        return cls.CALL if CALLS in statements else cls.MOVE


class Fate(StrEnum):
    """The fate of a COMMIT whose answer is lost."""

    DONE = "done"
    LATE = "done late"  # after its sender has been cut off, and may be back
    LOST = "lost"


FATES = tuple(Fate)
CUTS = tuple((action, fate) for action in Action for fate in Fate)  # in one fault


class Line:
    """Listens on a port of this machine and passes on to the server at a unix socket."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.cuts: Counter[tuple[Action, Fate]] = Counter()
        self._left: list[tuple[Action, Fate]] = []
        self._lock = threading.Lock()

    def cut(self) -> None:
        """Cut the next connections that commit such actions, with one fate after the other for each kind."""
        with self._lock:
            self._left = [*CUTS]

    @property
    def is_whole(self) -> bool:
        """True if every COMMIT that was to be cut off has been, and no further one will be."""
        with self._lock:
            return not self._left

    async def serve(self) -> None:
        """Pass on, until cancelled."""
        async with await asyncio.start_server(self._pass_on, sock=self._listening) as server:
            await server.serve_forever()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_server, to_server = await asyncio.open_unix_connection(str(self._server))
        except OSError:
            writer.transport.abort()
            return
        back = asyncio.create_task(_copy(from_server, writer))
        asked = b""  # statements of this transaction
        prepared: dict[bytes, bytes] = {}
        messages = _messages(reader)
        try:
            async for message in messages:
                statement = _statement(message, prepared)
                fate = self._fate(Action.of(asked)) if statement.upper() == COMMIT else None
                asked = b"" if statement.upper() in ENDS else asked + statement
                if fate is None:
                    to_server.write(message)
                    await to_server.drain()
                    continue
                back.cancel()
                last = message
                while last[:1] not in (QUERY, SYNC):
                    last = await anext(messages)
                    message = message + last  # noqa: PLW2901
                await self._meet(fate, message, writer, from_server, to_server)
                return
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            back.cancel()
            for each in (to_server, writer):
                each.transport.abort()

    def _fate(self, action: Action | None) -> Fate | None:
        with self._lock:
            cut = next((each for each in self._left if each[0] is action), None)
            if cut is None:
                return None
            self._left.remove(cut)
            self.cuts[cut] += 1
            return cut[1]

    async def _meet(
        self,
        fate: Fate,
        message: bytes,
        writer: asyncio.StreamWriter,
        from_server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        if fate is Fate.LATE:
            writer.transport.abort()
            await asyncio.sleep(LATE)
        if fate is not Fate.LOST:
            to_server.write(message)
            await to_server.drain()
            with suppress(TimeoutError):
                await asyncio.wait_for(_answered(from_server), PATIENCE)


def _statement(message: bytes, prepared: dict[bytes, bytes]) -> bytes:
    """Return the statement that a message executes, at once or in a pipeline. *prepared* has those that were named."""
    kind, body = message[:1], message[5:]
    if kind == QUERY:
        return body.rstrip(b"\0")
    if kind == PARSE:
        name, statement, _ = body.split(b"\0", 2)
        prepared[name] = statement
    if kind == BIND:
        _, name, _ = body.split(b"\0", 2)
        return prepared[name]
    return b""


async def _answered(reader: asyncio.StreamReader) -> None:
    """Wait for the end of an answer: until then its success is unknown."""
    answer = b""
    while not answer.endswith(READY):
        some = await reader.read(READ)
        if not some:
            return
        answer += some


async def _messages(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the messages of a client."""
    has_started = False
    while True:
        kind = await reader.readexactly(1) if has_started else b""
        header = await reader.readexactly(HEADER.size)
        (length,) = HEADER.unpack(header)
        body = await reader.readexactly(length - HEADER.size)
        has_started = has_started or HEADER.unpack(body[:4])[0] >> 16 == STARTED
        yield kind + header + body


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while some := await reader.read(READ):
            writer.write(some)
            await writer.drain()
    writer.transport.abort()


@contextmanager
def line_to(server: Path) -> Iterator[Line]:
    """Run the proxy in its own thread for a server at that socket, which may not be there yet."""
    line = Line(server)
    with in_a_thread(line.serve()):
        yield line


@contextmanager
def in_a_thread(work: Coroutine[Any, Any, None]) -> Iterator[None]:
    """Run something in its own event loop in the meantime."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def answered() -> None:
        begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        with suppress(asyncio.CancelledError):
            await work

    thread = threading.Thread(target=asyncio.run, args=(answered(),), daemon=True)
    thread.start()
    loop, task = begun.result()
    try:
        yield
    finally:
        if task:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
