"""One open stream: a queue of pending events, written as server-sent events."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from time import monotonic
from typing import Any, Final

from rest_framework.utils.encoders import JSONEncoder

from games.shared.pages.stream_tokens import Ticket
from games.tables.fragments import Digest

MOST_WAITING: Final = 16  # events queued for a slow reader; at one more the stream is closed and the page reloads
HEARTBEAT: Final = 15.0  # seconds of silence after which a heartbeat event is sent
MOST_SAID: Final = 16  # chat messages queued separately; at one more the page has to reload the chat
END_TIMEOUT: Final = 10.0  # seconds a reader has to take the remaining events after the stream has ended
RETRY: Final = b"retry: 3000\n\n"

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
WritePart = Callable[[bytes], bool]
"""Writes a part of the response at once, or returns False."""


def nowhere(messages: bytes) -> bool:
    """Write nothing: the server can write only what it is sent as ASGI messages."""
    return False


def event(name: str, html: str, number: str = "") -> bytes:
    """Return a server-sent event: its name, its ID, and the HTML without surrounding whitespace."""
    head = f"event: {name}\n" + (f"id: {number}\n" if number else "")
    lines = [line.strip() for line in html.splitlines() if line.strip()] or [""]
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()


def written(values: Mapping[str, Any]) -> str:
    """Return values as JSON on one line, as in API responses but with non-ASCII characters escaped,
    because some of those would end a line.
    """
    return json.dumps(values, cls=JSONEncoder, separators=(",", ":"))


OVER: Final = event("over", "")  # the session has ended
RECONNECT: Final = event("moved", "")  # this process is stopping; the client reconnects to another one
BEAT: Final = event("beat", "")
MISSED: Final = event("missed", "")  # an event that is sent only once was lost


class Stream:
    """One open stream. A reader that is too slow is disconnected; the browser reconnects and loads
    the current state. Chat messages have a separate queue and go last, so that a busy chat never
    costs the connection.

    An event is written to the connection at once if nothing waits before it and the reader keeps up (*write_part*). To
    wake the task that writes the waiting events costs more than writing, five hundred times for a change.
    """

    def __init__(self, ticket: Ticket, write_part: WritePart = nowhere) -> None:
        self.ticket = ticket
        self._write_part = write_part
        self.shown: dict[str, Digest] = {}  # the fragments that it was sent last, by event name
        self._waiting: deque[bytes | None] = deque()
        self._said: deque[bytes] = deque()
        self._rest: asyncio.Future[None] | None = None  # the writing task waits for it
        self._last: dict[str, bytes] = {}
        self._sent_at = monotonic()
        self._has_ended = False
        self._writing: asyncio.Task[None] | None = None

    @property
    def keeps_up(self) -> bool:
        """True if the reader has been sent everything so far."""
        return not self._waiting

    def send_event(self, kind: str, messages: bytes) -> None:
        """Queue an event unless it equals the last one of its kind."""
        if self._has_changed(kind, messages):
            self._last[kind] = messages
            self._put(messages)

    def send_events(self, events: Iterable[tuple[str, bytes]]) -> None:
        """Queue events as one chunk, without those that equal the last one of their kind."""
        messages = [(kind, each) for kind, each in events if self._has_changed(kind, each)]
        if messages:
            self._last.update(messages)
            self._put(b"".join(each for _, each in messages))

    def say(self, line: bytes) -> None:
        """Queue a chat event."""
        if self._has_ended or not line:
            return
        if len(self._said) >= MOST_SAID:
            self._said.clear()
            line = MISSED
        self._said.append(line)
        self._stir()

    def end(self, last: bytes = b"") -> None:
        """Queue a last event and end the stream; disconnect a reader that does not take it within `END_TIMEOUT`."""
        if not self._has_ended:
            if last:
                self._put(last)
            self._put(None)
            self._has_ended = True
            asyncio.get_running_loop().call_later(END_TIMEOUT, self._drop)

    def beat(self) -> None:
        """Queue a heartbeat if nothing was sent for a while."""
        if monotonic() - self._sent_at > HEARTBEAT:
            self._put(BEAT)

    async def write(self, send: Send) -> None:
        """Write queued events until the end. Cancelled where the reader is too slow or has disconnected."""
        self._writing = asyncio.current_task()
        await send({"type": "http.response.body", "body": RETRY, "more_body": True})
        while (messages := await self._next()) is not None:
            await send({"type": "http.response.body", "body": messages, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _has_changed(self, kind: str, messages: bytes) -> bool:
        return bool(messages) and self._last.get(kind) != messages

    async def _next(self) -> bytes | None:
        while not (self._waiting or self._said):
            self._rest = asyncio.get_running_loop().create_future()
            await self._rest
        return self._waiting.popleft() if self._waiting else self._said.popleft()

    def _put(self, messages: bytes | None) -> None:
        if self._has_ended:
            return
        is_idle = self._rest is not None and not self._rest.done()  # all that came before was written
        if messages is not None and is_idle and self._write_part(messages):
            self._sent_at = monotonic()
            return
        if len(self._waiting) >= MOST_WAITING:
            self._has_ended = True
            self._drop()
            return
        self._waiting.append(messages)
        self._stir()

    def _stir(self) -> None:
        self._sent_at = monotonic()
        if self._rest is not None and not self._rest.done():
            self._rest.set_result(None)

    def _drop(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
