"""The streams of live tables: a plain ASGI application under /live/, beside Django's pages on the same port."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from types import FrameType
from typing import Any, Final

from django.conf import settings
from django.http import parse_cookie

from casino.live_hub import Hub
from casino.live_streams import Stream
from games.live.tickets import PATH, BadTicket, read

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-accel-buffering", b"no"),  # a proxy that gathers answers would hold the cards back
]


class Streams:
    """Opens a stream for whoever brings a ticket."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one stream from its opening to its end."""
        if scope["method"] != "GET":
            await _refuse(send, HTTPStatus.METHOD_NOT_ALLOWED)
            return
        try:
            ticket = read(scope["path"], _session_cookie(scope))
        except BadTicket:
            await _refuse(send, HTTPStatus.FORBIDDEN)
            return
        stream = self._hub.admit(ticket)
        if stream is None:
            await _refuse(send, HTTPStatus.SERVICE_UNAVAILABLE)
            return
        try:
            await send({"type": "http.response.start", "status": HTTPStatus.OK.value, "headers": HEADERS})
            await _until_either_ends(stream, receive, send)
        finally:
            self._hub.leave(stream)


class Port:
    """The one port: streams here, *pages* for all else. Streams end when the process is told to stop, so that the
    server need not wait for them.
    """

    def __init__(self, hub: Hub, pages: Application) -> None:
        self._hub = hub
        self._streams: Application = Streams(hub)
        self._pages = pages

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and scope["path"].startswith(PATH):
            await self._streams(scope, receive, send)
        else:
            await self._pages(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # the start
        if threading.current_thread() is threading.main_thread():  # no other hears signals
            self._close_on_signals()
        await send({"type": "lifespan.startup.complete"})
        await receive()  # the stop
        await self._hub.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _close_on_signals(self) -> None:
        """Hear of the end at its beginning: the server tells applications only when their answers have ended."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            before = signal.getsignal(number)

            def stop(number: int, frame: FrameType | None, before: Any = before) -> None:
                loop.call_soon_threadsafe(self._hub.let_go)
                if callable(before):
                    before(number, frame)

            signal.signal(number, stop)


async def _until_either_ends(stream: Stream, receive: Receive, send: Send) -> None:
    """Write until there is no more to say, the reader is too slow, or has gone."""
    tasks = (asyncio.create_task(stream.write(send)), asyncio.create_task(_until_gone(receive)))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _session_cookie(scope: Message) -> str | None:
    """Return the cookie that says whose browser asks."""
    brought = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    return parse_cookie(brought.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)


async def _refuse(send: Send, status: HTTPStatus) -> None:
    """Answer in a word. A page that is refused polls."""
    headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": f"{status.phrase}\n".encode()})
