"""What the door is to slow senders, to slow readers: a thread that waits for one serves nobody else.

What a reader is not ready for is kept here, and the thread is free. Of an answer that is too long to keep, and of all
that is kept together, there is a most: a thread waits for the reader of a long one. Whoever takes nothing for too long,
or next to nothing, is hung up on.
"""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from ops.http.request_buffer import Application, Message, Receive, Send

KEPT_OF_ONE: Final = 2_000_000  # bytes; more than any file of a page has (redoc, swagger-ui: 1.6 million)
KEPT_OF_ALL: Final = 64_000_000  # bytes, in one process
PATIENCE: Final = 30.0  # seconds for which the reader of an answer may keep it waiting in all,
PACE: Final = 16_000  # and a second more for each of so many bytes that they took


@dataclass
class Limits:
    """What is kept for readers, and how long they are waited for."""

    of_one: int = KEPT_OF_ONE
    of_all: int = KEPT_OF_ALL
    patience: float = PATIENCE
    pace: int = PACE


class Readers:
    """Passes what *application* answers on as fast as it is read."""

    def __init__(self, application: Application, limits: Limits | None = None) -> None:
        self._application = application
        self.limits = limits or Limits()
        self.kept = 0  # bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection; whatever is not HTTP passes as it is."""
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
    """What is kept of one answer, between who writes and who reads it."""

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
        """Keep a piece until the reader is ready; wait where too much is kept already. Of what nobody waits for any
        more the rest is taken and forgotten: whoever writes could not be told, and would wait for ever.
        """
        size, limits = _size(message), self._readers.limits
        while self._kept and self._kept + size > limits.of_one and not self.is_given_up:
            self._has_room.clear()
            await self._has_room.wait()
        if self._kept and self._readers.kept + size > limits.of_all:
            await asyncio.sleep(0)  # whoever reads at all has taken what was kept
        if self._kept and self._readers.kept + size > limits.of_all:
            self._give_up()  # so many are slow that there is room for those alone who read
        if self.is_given_up:
            return
        self._keep(size)
        self._pieces.append(message)
        self._stirred.set()

    def end(self) -> None:
        """Nothing more is written."""
        self._pieces.append(None)
        self._stirred.set()

    async def pass_on(self) -> None:
        """Give the reader one piece after the other."""
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
        """Keep nothing more."""
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
    """End the connection at once. ASGI has no word for that, and a server that is left with half an answer closes the
    line only when the rest has been read: so uvicorn's own transport is asked, where it is there.
    """
    transport: Any = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is not None:
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass


def _size(message: Message) -> int:
    return len(message.get("body", b""))
