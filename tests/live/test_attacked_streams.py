"""Streams against those who would hold places, or have one thing that is wrong hold up everything."""

import asyncio
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from casino import live_streams
from casino.live_streams import OVER, Stream
from games.live import tickets
from games.live.tickets import BadTicket, Ticket

Message = MutableMapping[str, Any]


def a_stream() -> Stream:
    return Stream(Ticket(1, 1, uuid4(), "en"))


async def write_to_nobody(stream: Stream) -> str:
    """Write to somebody who keeps the line and takes nothing from it; end the stream; say how that ended."""
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


def test_whoever_reads_nothing_keeps_no_place_when_their_session_is_over(monkeypatch):
    monkeypatch.setattr(live_streams, "LAST_WORDS", 0.01)
    with ThreadPoolExecutor(1) as apart:  # Playwright's event loop runs in the thread of the tests
        assert apart.submit(asyncio.run, write_to_nobody(a_stream())).result() == "ended"


@pytest.mark.parametrize(
    "address",
    ["/live/", "/live//", "/live/a/", "/live/é:ü:ñ/", "/live/a:b:c/", "/live/.eJw:1:x/", "/live/\x00/", "/live/::/"],
)
def test_what_is_no_ticket_is_refused_and_raises_nothing_else(address):
    with pytest.raises(BadTicket):
        tickets.read(address)
