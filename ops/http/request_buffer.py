"""Buffers requests and responses so that a slow client does not block a worker thread.

A thread that waits for a slow client serves nobody else, and an incomplete form must not be
processed. So the whole body is read first, within limits of size and time; if the client
disconnects before its end, the request is dropped.

Output that a client does not accept yet is kept here, and the thread is free. The buffer of a
response and that of all responses together are limited, so a thread waits for the client of a long
response. A client that reads nothing, or too little, for too long is disconnected.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from ops.headers import BARE

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Words = Callable[[Message, HTTPStatus], tuple[str, bytes]]  # content type and body of an error response

SECONDS_FOR_A_BODY = 20.0


class _Gone(Exception):
    """The client disconnected before the end of the body."""


class _TooLarge(Exception):
    """The body is too large."""


@dataclass(frozen=True)
class Allowance:
    """Limits of a request: at most *largest* bytes of body within *seconds*. A larger one is
    redirected to *instead* if given, or answered with *words*; without either, with a plain-text
    error.
    """

    largest: int
    seconds: float = SECONDS_FOR_A_BODY
    instead: str = ""
    words: Words | None = None

    @property
    def hears_out(self) -> bool:
        """Whether to read a body that is too large to its end: otherwise a browser to redirect, or
        an API client to answer, would only see a broken connection.
        """
        return bool(self.instead or self.words)


class Door:
    """ASGI middleware that passes a request on to *application* when it is complete. The limits are
    those of its exact path (*at*), of its path prefix (*below*), or the *ordinary* ones.
    """

    def __init__(
        self,
        application: Application,
        *,
        ordinary: Allowance,
        at: Mapping[str, Allowance] | None = None,
        below: Mapping[str, Allowance] | None = None,
    ) -> None:
        self._application = application
        self._ordinary = ordinary
        self._at = at or {}
        self._below = below or {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection; anything but HTTP is passed on unchanged."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        allowed = self._allowance(scope.get("path", ""))
        try:
            async with asyncio.timeout(allowed.seconds):
                body = await _whole_body(receive, allowed)
        except _Gone:
            return
        except _TooLarge:
            if allowed.instead:
                await _lead(send, allowed.instead)
            else:
                await _refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, scope, allowed)
        except TimeoutError:
            await _refuse(send, HTTPStatus.REQUEST_TIMEOUT, scope, allowed)
        else:
            await self._application(_as_it_is(scope, body), _first(body, receive), send)

    def _allowance(self, path: str) -> Allowance:
        below = (allowed for start, allowed in self._below.items() if path.startswith(start))
        return self._at.get(path) or next(below, self._ordinary)


async def _whole_body(receive: Receive, allowed: Allowance) -> bytes:
    """Read a body; one that is too large is discarded."""
    body, size = bytearray(), 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        part = message.get("body", b"")
        size += len(part)
        if size <= allowed.largest:
            body += part
        else:
            body.clear()
            if not allowed.hears_out:
                raise _TooLarge
        if not message.get("more_body", False):
            break
    if size > allowed.largest:
        raise _TooLarge
    return bytes(body)


def _as_it_is(scope: Message, body: bytes) -> Message:
    """Remove headers with an underscore: WSGI cannot distinguish ``X_Forwarded_For``, which any
    client can send, from ``X-Forwarded-For``, which the proxy sets. Add Content-Length to a chunked
    body, which WSGI would treat as empty.
    """
    headers = [(name, value) for name, value in scope["headers"] if b"_" not in name]
    if body and all(name != b"content-length" for name, _ in headers):
        headers.append((b"content-length", str(len(body)).encode()))
    return {**scope, "headers": headers}


def _first(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that returns the body first, then further messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


async def _refuse(send: Send, status: HTTPStatus, scope: Message, allowed: Allowance) -> None:
    """Send an error, in plain text by default, and close the connection without reading more."""
    kind, body = allowed.words(scope, status) if allowed.words else ("text/plain", f"{status.phrase}\n".encode())
    said = [(b"content-type", kind.encode()), (b"connection", b"close"), *BARE]
    await send({"type": "http.response.start", "status": status.value, "headers": said})
    await send({"type": "http.response.body", "body": body})


async def _lead(send: Send, address: str) -> None:
    """Redirect the browser to another URL of this site."""
    said = [(b"location", address.encode()), (b"content-length", b"0"), *BARE]
    await send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER.value, "headers": said})
    await send({"type": "http.response.body", "body": b""})


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
