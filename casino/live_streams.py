"""One open stream: what a page is still to be told, and the writing of it as server-sent events."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from time import monotonic
from typing import Any, Final

from games.live.tickets import Ticket

MOST_WAITING: Final = 16  # events that a slow reader may be behind; one more, and the page has to begin anew
HEARTBEAT: Final = 15.0  # seconds of silence after which an event without meaning shows that both ends are there
LAST_WORDS: Final = 10.0  # seconds that a reader has to take what waits, once there is no more to come
RETRY: Final = b"retry: 3000\n\n"

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def event(name: str, html: str, number: str = "") -> bytes:
    """Return an event as it is sent: its kind, its number, and lines of HTML without the space around them."""
    head = f"event: {name}\n" + (f"id: {number}\n" if number else "")
    lines = [line.strip() for line in html.splitlines() if line.strip()] or [""]
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


OVER: Final = event("over", "")  # the session has ended
BEAT: Final = event("beat", "")


class Stream:
    """Somebody who watches. Whoever is too slow to read is dropped: the browser comes back and loads what is true."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)
        self._last: dict[str, bytes] = {}
        self._told_at = monotonic()
        self._has_ended = False
        self._writing: asyncio.Task[None] | None = None

    def tell(self, kind: str, news: bytes) -> None:
        """Have an event sent, unless it is the one of its kind that was sent last."""
        if news and self._last.get(kind) != news:
            self._last[kind] = news
            self._put(news)

    def end(self, last: bytes = b"") -> None:
        """Send what waits and a last event, and end; whoever does not take it keeps no place for it."""
        if not self._has_ended:
            if last:
                self._put(last)
            self._put(None)
            self._has_ended = True
            asyncio.get_running_loop().call_later(LAST_WORDS, self._drop)

    def beat(self) -> None:
        """Show that both ends are there, where nothing has been said for a while."""
        if monotonic() - self._told_at > HEARTBEAT:
            self._put(BEAT)

    async def write(self, send: Send) -> None:
        """Write until the end. Cancelled where the reader is too slow, or gone."""
        self._writing = asyncio.current_task()
        await send({"type": "http.response.body", "body": RETRY, "more_body": True})
        while (news := await self._waiting.get()) is not None:
            await send({"type": "http.response.body", "body": news, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _put(self, news: bytes | None) -> None:
        if self._has_ended:
            return
        self._told_at = monotonic()
        try:
            self._waiting.put_nowait(news)
        except asyncio.QueueFull:
            self._has_ended = True
            self._drop()

    def _drop(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
