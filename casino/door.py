"""The door: what every request passes before one of the few threads is given to it.

A thread that waits for a slow sender serves nobody else, and half a form is not what its sender meant. So the body is
taken in first, whole, within limits of size and time; where the sender goes away in the middle, nothing happens.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

SECONDS_FOR_A_BODY = 20.0


class _Gone(Exception):
    """The sender went away before the end."""


class _TooLarge(Exception):
    """More than any form of the house has."""


@dataclass(frozen=True)
class Allowance:
    """What a request may bring: at most *largest* bytes of body within *seconds*. Whoever sends more is led to the
    address *instead*, where that is said; without one they are refused in a word.
    """

    largest: int
    seconds: float = SECONDS_FOR_A_BODY
    instead: str = ""


class Door:
    """Lets a request in to *application* when all of it is here, within the *ordinary* allowance or its path's."""

    def __init__(
        self, application: Application, *, ordinary: Allowance, at: Mapping[str, Allowance] | None = None
    ) -> None:
        self._application = application
        self._ordinary = ordinary
        self._at = at or {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection; whatever is not HTTP passes as it is."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        allowed = self._at.get(scope.get("path", ""), self._ordinary)
        try:
            async with asyncio.timeout(allowed.seconds):
                body = await _whole_body(receive, allowed)
        except _Gone:
            return
        except _TooLarge:
            await (
                _lead(send, allowed.instead) if allowed.instead else _refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            )
        except TimeoutError:
            await _refuse(send, HTTPStatus.REQUEST_TIMEOUT)
        else:
            await self._application(_without_disguises(scope), _first(body, receive), send)


async def _whole_body(receive: Receive, allowed: Allowance) -> bytes:
    """Take in a body. Of one that is too large nothing is kept; a browser that is to be led elsewhere has to be heard
    to the end first, or it shows a broken connection.
    """
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
            if not allowed.instead:
                raise _TooLarge
        if not message.get("more_body", False):
            break
    if size > allowed.largest:
        raise _TooLarge
    return bytes(body)


def _without_disguises(scope: Message) -> Message:
    """Leave out headers with an underscore: WSGI cannot tell ``X_Forwarded_For``, which anyone may send, from the
    ``X-Forwarded-For`` that the proxy sets.
    """
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if b"_" not in name]}


def _first(body: bytes, receive: Receive) -> Receive:
    """Hand over the body, and after it what else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


async def _refuse(send: Send, status: HTTPStatus) -> None:
    """Answer in a word and hang up: what else is on its way is not read."""
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": f"{status.phrase}\n".encode()})


async def _lead(send: Send, address: str) -> None:
    """Lead the browser to another address of the house."""
    headers = [(b"location", address.encode()), (b"content-length", b"0"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER.value, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
