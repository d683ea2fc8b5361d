"""Buffers responses so that a slow client does not block a worker thread.

What a client does not accept yet is kept here, and the thread is free. The buffer of a response and
that of all responses together are limited, so a thread waits for the client of a long response. A
client that reads nothing, or too little, for too long is disconnected.
"""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from ops.http.request_buffer import Application, Message, Receive, Send

KEPT_OF_ONE: Final = 2_000_000  # bytes; more than any static file of a page (redoc, swagger-ui: 1.6 million)
KEPT_OF_ALL: Final = 64_000_000  # bytes, per process
PATIENCE: Final = 30.0  # total seconds that a client may delay a response,
PACE: Final = 16_000  # plus one second for each of so many bytes that it accepts


@dataclass
class Limits:
    """Limits of buffers and of waiting."""

    of_one: int = KEPT_OF_ONE
    of_all: int = KEPT_OF_ALL
    patience: float = PATIENCE
    pace: int = PACE


class Readers:
    """ASGI middleware that passes responses of *application* on as fast as the client reads them."""

    def __init__(self, application: Application, limits: Limits | None = None) -> None:
        self._application = application
        self.limits = limits or Limits()
        self.kept = 0  # bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection; anything but HTTP is passed on unchanged."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        answer = _Answer(self, send)
        passing = asyncio.create_task(answer.pass_on())
        try:
            await self._application(scope, receive, answer.take)
            answer.end()
            if not answer.is_given_up:
                await passing
        finally:
            passing.cancel()
            answer.forget()
        if answer.is_given_up:
            await _hang_up(send, receive)


class _Answer:
    """Buffer of one response, between application and client."""

    def __init__(self, readers: Readers, send: Send) -> None:
        self._readers = readers
        self._send = send
        self._pieces: deque[Message | None] = deque()
        self._stirred = asyncio.Event()
        self._has_room = asyncio.Event()
        self._kept = 0
        self._patience = readers.limits.patience
        self.is_given_up = False

    async def take(self, message: Message) -> None:
        """Buffer a message; wait while the buffer is full. After the client was given up, messages
        are discarded: the application cannot be told, and would wait forever.
        """
        size, limits = _size(message), self._readers.limits
        while self._kept and self._kept + size > limits.of_one and not self.is_given_up:
            self._has_room.clear()
            await self._has_room.wait()
        if self._kept and self._readers.kept + size > limits.of_all:
            await asyncio.sleep(0)  # a client that reads at all empties its buffer now
        if self._kept and self._readers.kept + size > limits.of_all:
            self._give_up()  # too many slow clients: the rest is for those that read
        if self.is_given_up:
            return
        self._keep(size)
        self._pieces.append(message)
        self._stirred.set()

    def end(self) -> None:
        """Mark the end of the response."""
        self._pieces.append(None)
        self._stirred.set()

    async def pass_on(self) -> None:
        """Send the messages to the client one by one."""
        while not self.is_given_up:
            while not self._pieces:
                self._stirred.clear()
                await self._stirred.wait()
            message = self._pieces.popleft()
            if message is None:
                return
            try:
                await self._pass(message)
            except Exception:
                self._give_up()
                raise

    async def _pass(self, message: Message) -> None:
        size, time = _size(message), asyncio.get_running_loop().time
        began = time()
        try:
            async with asyncio.timeout(self._patience):
                await self._send(message)
        except TimeoutError:
            self._give_up()
            return
        if self.is_given_up:
            return
        limits = self._readers.limits
        self._patience = min(limits.patience, self._patience - (time() - began) + size / limits.pace)
        self._keep(-size)
        self._has_room.set()

    def forget(self) -> None:
        """Discard the buffer."""
        self._pieces.clear()
        self._keep(-self._kept)

    def _give_up(self) -> None:
        self.is_given_up = True
        self.forget()
        self._has_room.set()
        self.end()

    def _keep(self, size: int) -> None:
        self._kept += size
        self._readers.kept += size


async def _hang_up(send: Send, receive: Receive) -> None:
    """Close the connection at once. ASGI cannot do this, and after an incomplete response a server
    closes the connection only when the client has read the rest. So uvicorn's transport is used
    where available.
    """
    transport: Any = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is not None:
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass


def _size(message: Message) -> int:
    return len(message.get("body", b""))
