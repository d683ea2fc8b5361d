"""Streams under attack: clients that hold connections, and errors that could block all streams."""

import asyncio
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

import pytest

from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import BadTicket, Ticket, house_ticket, lobby_ticket
from realtime import stream as live_streams
from realtime.listener import Line, Notifications
from realtime.overviews import Lobbies
from realtime.stream import MISSED, MOST_SAID, MOST_WAITING, OVER, Stream
from tests.harness.apart import run_apart
from wallet.models import Mode

Message = MutableMapping[str, Any]


def a_stream() -> Stream:
    return Stream(Ticket(1, 1, uuid4(), "en"))


async def write_to_nobody(stream: Stream) -> str:
    """Write to a client that does not read, end the stream, and return how it ended."""
    begun = asyncio.Event()

    async def never(_: Message) -> None:
        begun.set()
        await asyncio.Event().wait()

    writing = asyncio.create_task(stream.write(never))
    await begun.wait()
    stream.end(OVER)
    done, _ = await asyncio.wait([writing], timeout=30)
    writing.cancel()
    return "ended" if done else "still there"


def test_a_client_that_reads_nothing_keeps_no_slot_after_its_session(monkeypatch):
    monkeypatch.setattr(live_streams, "END_TIMEOUT", 0.01)
    assert run_apart(write_to_nobody(a_stream())) == "ended"


async def written(stream: Stream, number: int) -> list[bytes]:
    """Return this many waiting items in the order in which they are written."""
    pieces: list[bytes] = []

    async def keep(message: Message) -> None:
        pieces.append(message["body"])

    writing = asyncio.create_task(stream.write(keep))
    async with asyncio.timeout(30):
        while len(pieces) <= number:
            await asyncio.sleep(0)
    writing.cancel()
    return pieces[1:]


async def too_much_said() -> list[bytes]:
    """Simulate a client that reads only after more was sent than the buffer keeps."""
    stream = a_stream()
    for number in range(MOST_SAID + 3):
        stream.say(b"said %d" % number)
        if number < MOST_WAITING:
            stream.send_event("public", b"table %d" % number)
    return await written(stream, MOST_WAITING + 3)


def test_too_much_said_costs_lines_of_the_chat_and_nothing_of_the_table():
    found = run_apart(too_much_said())
    assert found[:MOST_WAITING] == [b"table %d" % number for number in range(MOST_WAITING)]
    assert found[MOST_WAITING:] == [MISSED, *(b"said %d" % number for number in range(MOST_SAID + 1, MOST_SAID + 3))]


class Refusing(Line):
    """A database connection that refuses queries."""

    def __init__(self) -> None:
        """Create it without a connection."""

    async def ask(self, question: str, parameters: object) -> list[Any]:
        raise AssertionError(question)


def test_with_nobody_in_a_lobby_it_is_not_read():
    async def stays_away() -> None:
        lobbies = Lobbies()
        stream = Stream(lobby_ticket(1, Mode.REAL, uuid4(), "en", currency="GBP", jurisdiction="GB"))
        lobbies.take_in(Mode.REAL, stream)
        lobbies.let_go(Mode.REAL, stream)
        lobbies.hear(Notifications(tables={1, 2}))
        await lobbies.keep_up(Refusing())
        assert not lobbies.show()

    run_apart(stays_away())


@pytest.mark.parametrize(
    "ticket",
    [
        lobby_ticket(7, Mode.FREE, uuid4(), "ro", currency="RON", jurisdiction="RO"),
        house_ticket(7, uuid4(), "ro", jurisdiction="RO"),
    ],
    ids=["lobby", "house"],
)
def test_a_ticket_is_read_with_the_cookie_for_which_it_was_made(ticket):
    address = stream_tokens.issue(ticket, "cookie")
    assert stream_tokens.read(address, "cookie") == ticket
    for other in ("another", "", None):
        with pytest.raises(BadTicket):
            stream_tokens.read(address, other)


@pytest.mark.parametrize(
    "address",
    ["/live/", "/live//", "/live/a/", "/live/é:ü:ñ/", "/live/a:b:c/", "/live/.eJw:1:x/", "/live/\x00/", "/live/::/"],
)
def test_what_is_no_ticket_is_refused_and_raises_nothing_else(address):
    with pytest.raises(BadTicket):
        stream_tokens.read(address)
