"""The door: what every request passes before one of the few threads is given to it.

A thread that waits for a slow sender serves nobody else, and half a form is not what its sender meant. So the body is
taken in first, whole, within limits of size and time; where the sender goes away in the middle, nothing happens.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
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


class Door:
    """Lets a request in to *application* when all of it is here: at most *largest* bytes of body."""

    def __init__(self, application: Application, *, largest: int, seconds: float = SECONDS_FOR_A_BODY) -> None:
        self._application = application
        self._largest = largest
        self._seconds = seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection; whatever is not HTTP passes as it is."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._whole_body(receive)
        except _Gone:
            return
        except _TooLarge:
            await _refuse(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except TimeoutError:
            await _refuse(send, HTTPStatus.REQUEST_TIMEOUT)
        else:
            await self._application(_without_disguises(scope), _first(body, receive), send)

    async def _whole_body(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            if len(body) > self._largest:
                raise _TooLarge
            if not message.get("more_body", False):
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
