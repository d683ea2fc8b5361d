"""ASGI application for server-sent event streams, and the switch between it and Django.

Paths under /live/ open a stream for a page; an address of the API opens one for an API client. The
API view checks an API client like any other call and returns a ticket in the ASGI scope
(`games.api.stream`). The stream then continues here and holds no thread.
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
from games.shared.pages.stream_tokens import PATH, BadTicket, Ticket, read
from ops import logs, program
from ops.http import BARE
from ops.http.pages import CONNECTION
from ops.readiness import MONITOR
from players.api.problems import Problem
from realtime.hub import Hub
from realtime.stream import Stream, nowhere

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    *BARE,
    (b"x-accel-buffering", b"no"),  # a proxy that buffers would delay the cards
]

NUMBERED: Final = logs.HEADER.lower().encode()

logger = structlog.get_logger(__name__)


class Traced:
    """Adds the request ID to a response and logs the request when the response ends."""

    def __init__(self, send: Send, method: str, number: str) -> None:
        self._send, self._method, self._number = send, method, number
        self._began = perf_counter()
        self._status = 0  # stays 0 where no response was started

    async def __call__(self, message: Message) -> None:
        """Send one ASGI message."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message = {**message, "headers": [*message["headers"], (NUMBERED, self._number.encode())]}
        await self._send(message)

    def end(self) -> None:
        """Log the request. The path is left out because it contains the ticket."""
        milliseconds = round((perf_counter() - self._began) * 1000, 1)
        logger.info("request", method=self._method, view="live", status=self._status, ms=milliseconds)


class Streams:
    """Opens streams for pages that present a valid ticket."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one stream until it ends."""
        traced = Traced(send, scope["method"], logs.begin(_header(scope["headers"], NUMBERED)))
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
        if not await _serve(self._hub, ticket, scope, receive, send):
            await _refuse(send, HTTPStatus.SERVICE_UNAVAILABLE)


class ApiClients:
    """Opens streams for API clients that *pages* (the Django application) has authorized."""

    def __init__(self, hub: Hub, pages: Application) -> None:
        self._hub = hub
        self._pages = pages

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one stream until it ends, or pass on the error response of the API."""
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
        logs.go_on(number)  # the request ID that Django assigned
        traced = Traced(send, scope["method"], number)
        try:
            if not await _serve(self._hub, counter.ticket, scope, receive, traced):
                await _refuse_full(counter.ticket, traced)
        finally:
            traced.end()


class Port:
    """Root ASGI application: serves streams itself and passes all other requests to *pages*.

    On a stop signal the process reports that it is not ready (`ops.readiness`) and keeps serving
    for ``WEB_DRAIN_SECONDS``, so that the load balancer can send new requests to other processes.
    Then every stream gets a last event and ends, so that the server does not wait for streams and
    pages reconnect elsewhere. The server finishes open requests and exits. A second signal skips
    the wait.
    """

    def __init__(self, hub: Hub, pages: Application) -> None:
        self._hub = hub
        self._streams: Application = Streams(hub)
        self._api_clients: Application = ApiClients(hub, pages)
        self._pages = pages

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and scope["path"].startswith(PATH):
            await self._streams(scope, receive, send)
        elif scope["type"] == "http" and is_opening(scope["path"]):
            await self._api_clients(scope, receive, send)
        else:
            await self._pages(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()  # lifespan.startup
        is_program = threading.current_thread() is threading.main_thread()  # else within another one, as in tests
        if is_program:  # only the main thread can handle signals
            self._close_on_signals()
        await send({"type": "lifespan.startup.complete"})
        if is_program:
            program.verify_in_thread("web")
        await receive()  # lifespan.shutdown
        await self._hub.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _close_on_signals(self) -> None:
        """Handle stop signals here: the server sends lifespan.shutdown only after all responses have ended."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            end = partial(self._end, signal.getsignal(number))

            def stop(number: int, frame: FrameType | None, end: Callable[[int], None] = end) -> None:
                wait = 0.0 if MONITOR.is_stopping else settings.WEB_DRAIN_SECONDS
                MONITOR.begin_to_stop()
                loop.call_soon_threadsafe(loop.call_later, wait, end, number)

            signal.signal(number, stop)

    def _end(self, server: Any, number: int) -> None:
        """End all streams and call the *server*'s own handler for the signal."""
        self._hub.let_go()
        if callable(server):
            server(number, None)


async def _serve(hub: Hub, ticket: Ticket, scope: Message, receive: Receive, send: Send) -> bool:
    """Serve a stream until it ends; return False where the hub is full."""
    connection = scope.get(CONNECTION)  # of our own server
    stream = hub.admit(ticket, nowhere if connection is None else connection.write_part)
    if stream is None:
        return False
    try:
        await send({"type": "http.response.start", "status": HTTPStatus.OK.value, "headers": HEADERS})
        await _until_either_ends(stream, receive, send)
    finally:
        hub.leave(stream)
    return True


async def _until_either_ends(stream: Stream, receive: Receive, send: Send) -> None:
    """Write until the stream ends, the reader is too slow, or the client disconnects."""
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
    """Return the value of a header, "" where it is missing."""
    return next((value.decode("latin-1") for each, value in headers if each.lower() == name), "")


def _session_cookie(scope: Message) -> str | None:
    """Return the session cookie of the browser."""
    brought = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    return parse_cookie(brought.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)


async def _refuse(send: Send, status: HTTPStatus) -> None:
    """Send a plain-text error. A page whose stream is refused falls back to polling."""
    headers = [(b"content-type", b"text/plain"), *BARE]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": f"{status.phrase}\n".encode()})


async def _refuse_full(ticket: Ticket, send: Send) -> None:
    """Tell an API client that there is no room, in the error format of the API."""
    with override(ticket.language):
        answer = Problem(FULL, headers={"Retry-After": "5"}).plain()
    said = {**answer.headers, "Content-Length": str(len(answer.content))}
    headers = [*((name.lower().encode(), value.encode()) for name, value in said.items()), *BARE]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})
