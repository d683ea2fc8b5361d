"""The door: what every request passes before one of the few threads is given to it.

A thread that waits for a slow sender serves nobody else, and half a form is not what its sender meant. So the body is
taken in first, whole, within limits of size and time; where the sender goes away in the middle, nothing happens.
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
Words = Callable[[Message, HTTPStatus], tuple[str, bytes]]  # content type and body of a refusal

SECONDS_FOR_A_BODY = 20.0


class _Gone(Exception):
    """The sender went away before the end."""


class _TooLarge(Exception):
    """More than any form of the house has."""


@dataclass(frozen=True)
class Allowance:
    """What a request may bring: at most *largest* bytes of body within *seconds*. Whoever sends more is led to the
    address *instead*, where that is said, or told what *words* say; without either they are refused in a word.
    """

    largest: int
    seconds: float = SECONDS_FOR_A_BODY
    instead: str = ""
    words: Words | None = None

    @property
    def hears_out(self) -> bool:
        """Whether a sender of too much is heard to the end: else a browser that is to be led elsewhere, or a program
        that is told why, finds a broken connection.
        """
        return bool(self.instead or self.words)


class Door:
    """Lets a request in to *application* when all of it is here, within the *ordinary* allowance, that of its path, or
    of what its path begins with.
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
        """Serve one ASGI connection; whatever is not HTTP passes as it is."""
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
    """Take in a body. Of one that is too large nothing is kept."""
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
    """Leave out headers with an underscore: WSGI cannot tell ``X_Forwarded_For``, which anyone may send, from the
    ``X-Forwarded-For`` that the proxy sets. And say how long a body is that came in pieces: WSGI takes one of unknown
    length for none.
    """
    headers = [(name, value) for name, value in scope["headers"] if b"_" not in name]
    if body and all(name != b"content-length" for name, _ in headers):
        headers.append((b"content-length", str(len(body)).encode()))
    return {**scope, "headers": headers}


def _first(body: bytes, receive: Receive) -> Receive:
    """Hand over the body, and after it what else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


async def _refuse(send: Send, status: HTTPStatus, scope: Message, allowed: Allowance) -> None:
    """Answer, in a word where nothing else is said, and hang up: what else is on its way is not read."""
    kind, body = allowed.words(scope, status) if allowed.words else ("text/plain", f"{status.phrase}\n".encode())
    said = [(b"content-type", kind.encode()), (b"connection", b"close"), *BARE]
    await send({"type": "http.response.start", "status": status.value, "headers": said})
    await send({"type": "http.response.body", "body": body})


async def _lead(send: Send, address: str) -> None:
    """Lead the browser to another address of the house."""
    said = [(b"location", address.encode()), (b"content-length", b"0"), *BARE]
    await send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER.value, "headers": said})
    await send({"type": "http.response.body", "body": b""})
