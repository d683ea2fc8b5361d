"""One open stream: what a page is still to be told, and the writing of it as server-sent events."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from time import monotonic
from typing import Any, Final

from rest_framework.utils.encoders import JSONEncoder

from games.shared.stream_tokens import Ticket

MOST_WAITING: Final = 16  # events that a slow reader may be behind; one more, and the page has to begin anew
HEARTBEAT: Final = 15.0  # seconds of silence after which an event without meaning shows that both ends are there
MOST_SAID: Final = 16  # lines of the chat that wait beside them; one more, and the page has to read the chat anew
LAST_WORDS: Final = 10.0  # seconds that a reader has to take what waits, once there is no more to come
RETRY: Final = b"retry: 3000\n\n"

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def event(name: str, html: str, number: str = "") -> bytes:
    """Return an event as it is sent: its kind, its number, and lines of HTML without the space around them."""
    head = f"event: {name}\n" + (f"id: {number}\n" if number else "")
    lines = [line.strip() for line in html.splitlines() if line.strip()] or [""]
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


def written(values: Mapping[str, Any]) -> str:
    """Return values as JSON in one line, spelled as answers of the API are but for letters that are not of ASCII: some
    of those would end a line.
    """
    return json.dumps(values, cls=JSONEncoder, separators=(",", ":"))


OVER: Final = event("over", "")  # the session has ended
MOVED: Final = event("moved", "")  # this process ends; whoever watches on asks anew, and another one answers
BEAT: Final = event("beat", "")
MISSED: Final = event("missed", "")  # something that is told only once was not


class Stream:
    """Somebody who watches. Whoever is too slow to read is dropped: the browser comes back and loads what is true. What
    is said in the chat waits apart and goes last: too much of it costs nobody the table.
    """

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self._waiting: deque[bytes | None] = deque()
        self._said: deque[bytes] = deque()
        self._stirred = asyncio.Event()
        self._last: dict[str, bytes] = {}
        self._told_at = monotonic()
        self._has_ended = False
        self._writing: asyncio.Task[None] | None = None

    def tell(self, kind: str, news: bytes) -> None:
        """Have an event sent, unless it is the one of its kind that was sent last."""
        self.tell_all([(kind, news)])

    def tell_all(self, events: Iterable[tuple[str, bytes]]) -> None:
        """Have events sent as one piece, without those that were sent last of their kind."""
        news = [(kind, each) for kind, each in events if each and self._last.get(kind) != each]
        if news:
            self._last.update(news)
            self._put(b"".join(each for _, each in news))

    def say(self, line: bytes) -> None:
        """Have something sent that was said in the chat."""
        if self._has_ended or not line:
            return
        if len(self._said) >= MOST_SAID:
            self._said.clear()
            line = MISSED
        self._said.append(line)
        self._stir()

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
        while (news := await self._next()) is not None:
            await send({"type": "http.response.body", "body": news, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self) -> bytes | None:
        while not (self._waiting or self._said):
            self._stirred.clear()
            await self._stirred.wait()
        return self._waiting.popleft() if self._waiting else self._said.popleft()

    def _put(self, news: bytes | None) -> None:
        if self._has_ended:
            return
        if len(self._waiting) >= MOST_WAITING:
            self._has_ended = True
            self._drop()
            return
        self._waiting.append(news)
        self._stir()

    def _stir(self) -> None:
        self._told_at = monotonic()
        self._stirred.set()

    def _drop(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
