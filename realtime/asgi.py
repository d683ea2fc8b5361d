"""The streams of live tables: a plain ASGI application under /live/, beside Django's pages on the same port.

A program opens one at an address of the API. Who may is found out as for every other call: the request goes to the
pages, and the view that answers it leaves a ticket on the port (`games.api.stream`). With that the port goes on, and no
thread is held any longer.
"""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import partial
from http import HTTPStatus
from time import perf_counter
from types import FrameType
from typing import Any, Final

import structlog
from django.conf import settings
from django.http import parse_cookie
from django.utils.translation import override

from games.api.stream import COUNTER, FULL, Counter, is_opening
from games.shared.stream_tokens import PATH, BadTicket, Ticket, read
from ops import tracing
from ops.headers import BARE
from ops.readiness import WATCH
from players.api.problems import Problem
from realtime.hub import Hub
from realtime.stream import Stream

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    *BARE,
    (b"x-accel-buffering", b"no"),  # a proxy that gathers answers would hold the cards back
]

NUMBERED: Final = tracing.HEADER.lower().encode()

logger = structlog.get_logger(__name__)


class Traced:
    """Sends an answer with the id of its request, and writes the line of the log when it has ended."""

    def __init__(self, send: Send, method: str, number: str) -> None:
        self._send, self._method, self._number = send, method, number
        self._began = perf_counter()
        self._status = 0  # of what nobody waited for

    async def __call__(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message = {**message, "headers": [*message["headers"], (NUMBERED, self._number.encode())]}
        await self._send(message)

    def end(self) -> None:
        """Write how it went. No path: its ticket is nobody's to read."""
        milliseconds = round((perf_counter() - self._began) * 1000, 1)
        logger.info("request", method=self._method, view="live", status=self._status, ms=milliseconds)


class Streams:
    """Opens a stream for whoever brings a ticket."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one stream from its opening to its end."""
        traced = Traced(send, scope["method"], tracing.begin(_header(scope["headers"], NUMBERED)))
        try:
            await self._answer(scope, receive, traced)
        finally:
            traced.end()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            await _refuse(send, HTTPStatus.METHOD_NOT_ALLOWED)
            return
        try:
            ticket = read(scope["path"], _session_cookie(scope))
        except BadTicket:
            await _refuse(send, HTTPStatus.FORBIDDEN)
            return
        if not await _serve(self._hub, ticket, receive, send):
            await _refuse(send, HTTPStatus.SERVICE_UNAVAILABLE)


class Programs:
    """Opens a stream for a program that the *pages* let in."""

    def __init__(self, hub: Hub, pages: Application) -> None:
        self._hub = hub
        self._pages = pages

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one stream from its opening to its end, or pass on why it is not opened."""
        counter, number = Counter(), ""

        async def unless_let_in(message: Message) -> None:
            nonlocal number
            if counter.ticket is None:
                await send(message)
            elif message["type"] == "http.response.start":
                number = _header(message["headers"], NUMBERED)

        await self._pages({**scope, COUNTER: counter}, receive, unless_let_in)
        if counter.ticket is None:
            return
        tracing.go_on(number)  # of the request that they let in
        traced = Traced(send, scope["method"], number)
        try:
            if not await _serve(self._hub, counter.ticket, receive, traced):
                await _tell_full(counter.ticket, traced)
        finally:
            traced.end()


class Port:
    """The one port: streams here, *pages* for all else.

    A process that is told to stop is not ready from then on (`ops.readiness`), and goes on serving for as long as
    ``WEB_DRAIN_SECONDS`` says, so that whoever shares out requests has sent the next ones elsewhere. Then streams end,
    each with a word, so that the server need not wait for them and their pages come back elsewhere; and the server
    answers what it has begun with and ends. Told twice, it does not wait.
    """

    def __init__(self, hub: Hub, pages: Application) -> None:
        self._hub = hub
        self._streams: Application = Streams(hub)
        self._programs: Application = Programs(hub, pages)
        self._pages = pages

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and scope["path"].startswith(PATH):
            await self._streams(scope, receive, send)
        elif scope["type"] == "http" and is_opening(scope["path"]):
            await self._programs(scope, receive, send)
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
            end = partial(self._end, signal.getsignal(number))

            def stop(number: int, frame: FrameType | None, end: Callable[[int], None] = end) -> None:
                wait = 0.0 if WATCH.is_stopping else settings.WEB_DRAIN_SECONDS
                WATCH.begin_to_stop()
                loop.call_soon_threadsafe(loop.call_later, wait, end, number)

            signal.signal(number, stop)

    def _end(self, server: Any, number: int) -> None:
        """Let streams go and have the *server* do what it does at that signal."""
        self._hub.let_go()
        if callable(server):
            server(number, None)


async def _serve(hub: Hub, ticket: Ticket, receive: Receive, send: Send) -> bool:
    """Serve a stream to its end; say whether there was room for it."""
    stream = hub.admit(ticket)
    if stream is None:
        return False
    try:
        await send({"type": "http.response.start", "status": HTTPStatus.OK.value, "headers": HEADERS})
        await _until_either_ends(stream, receive, send)
    finally:
        hub.leave(stream)
    return True


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


def _header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """Return what a header says, "" where there is none."""
    return next((value.decode("latin-1") for each, value in headers if each.lower() == name), "")


def _session_cookie(scope: Message) -> str | None:
    """Return the cookie that says whose browser asks."""
    brought = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    return parse_cookie(brought.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)


async def _refuse(send: Send, status: HTTPStatus) -> None:
    """Answer in a word. A page that is refused polls."""
    headers = [(b"content-type", b"text/plain"), *BARE]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": f"{status.phrase}\n".encode()})


async def _tell_full(ticket: Ticket, send: Send) -> None:
    """Tell a program that there is no room, as every refusal of the API is told."""
    with override(ticket.language):
        answer = Problem(FULL, headers={"Retry-After": "5"}).plain()
    said = {**answer.headers, "Content-Length": str(len(answer.content))}
    headers = [*((name.lower().encode(), value.encode()) for name, value in said.items()), *BARE]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})
