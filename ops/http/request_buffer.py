"""Buffers requests so that a slow client does not block a worker thread.

A thread that waits for a slow client serves nobody else, and an incomplete form must not be
processed. So the whole body is read first, within limits of size and time; if the client
disconnects before its end, the request is dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

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
