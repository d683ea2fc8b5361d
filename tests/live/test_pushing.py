"""Delivery of changes from the database to viewers: no wake-up is lost, and none is without effect."""

import asyncio
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

from games.shared.pages.stream_tokens import Ticket
from players.notify import CHANNEL
from realtime.listener import open_line
from realtime.stream import RETRY, Stream
from tests.harness.apart import run_apart

SECONDS = 30  # far less than the rest that is asked for


def test_a_notification_that_comes_with_the_answer_to_a_query_ends_the_rest(cloned_db):
    """It was read from the socket together with the answer. The socket stays silent, so a page would see the cards
    only when the next session check is due.
    """

    async def rest() -> set[int]:
        async with open_line() as line, asyncio.timeout(SECONDS):
            await line.ask("SELECT pg_notify(%s::text, '7')", [CHANNEL])
            await line.rest(asyncio.Event(), 10 * SECONDS)
            return line.hear().tables

    assert run_apart(rest()) == {7}


class Reader:
    """A client: *written* is what reached it at once, *sent* what the server was sent as messages."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.sent: list[bytes] = []
        self.is_slow = False
        self._has_changed = asyncio.Event()

    def write_part(self, messages: bytes) -> bool:
        if not self.is_slow:
            self.written.append(messages)
        return not self.is_slow

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.sent.append(message["body"])
        self._has_changed.set()

    async def wait_for(self, number: int) -> None:
        """Wait until so many messages were sent, and until the writing task rests again."""
        while len(self.sent) < number:
            self._has_changed.clear()
            await self._has_changed.wait()
        await asyncio.sleep(0)


def test_an_event_is_written_at_once_to_a_reader_that_keeps_up_and_waits_in_order_for_one_that_does_not():
    async def push() -> Reader:
        reader = Reader()
        stream = Stream(Ticket(1, 1, uuid4(), "en"), reader.write_part)
        stream.send_event("public", b"before the first byte")
        async with asyncio.timeout(SECONDS):
            writing = asyncio.create_task(stream.write(reader.send))
            await reader.wait_for(2)
            stream.send_event("public", b"at once")
            stream.send_event("own", b"as well")
            reader.is_slow = True
            stream.send_event("public", b"waits")
            reader.is_slow = False
            stream.send_event("own", b"waits behind it")
            await reader.wait_for(4)
            stream.send_event("public", b"at once again")
            stream.end(b"the last")
            await writing
        return reader

    reader = run_apart(push())
    assert reader.sent == [RETRY, b"before the first byte", b"waits", b"waits behind it", b""]
    assert reader.written == [b"at once", b"as well", b"at once again", b"the last"]
