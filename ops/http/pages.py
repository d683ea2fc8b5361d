"""Runs the WSGI application in threads, behind an ASGI server, so that no client can block a thread.

A thread gets a complete request (`ops.http.bodies`) and returns a complete response; only responses
of more than `Limits.piece` bytes are handed over in pieces. What the client has not read yet is in
the buffer of its connection. These buffers are limited, and a client that reads nothing, or too
little, for too long is disconnected.

One task and two thread switches for a request: a2wsgi needs two for each message, a
fifth of a millisecond of processor time more.
"""

import asyncio
import io
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

from ops.http import BARE
from ops.http.bodies import Bodies, Body, Gone, Message, Receive, Refused, Send

CONNECTION: Final = "sabot.connection"  # key of an ASGI scope: the asyncio protocol, set by `ops.http.server`
Environ = dict[str, Any]
Headers = list[tuple[bytes, bytes]]
WSGI = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
Refusal = Callable[[Message, HTTPStatus], tuple[Headers, bytes]]  # headers and body of a refusal

BASE: Final[Environ] = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
}


@dataclass(frozen=True)
class Limits:
    """Limits of what is buffered for clients, and of waiting for them."""

    piece: int = 1_000_000  # bytes that a thread produces before it waits for the client
    of_one: int = 2_000_000  # bytes in a connection's buffer; more than any static file of a page
    of_all: int = 64_000_000  # bytes, per process, for clients that read slowly
    patience: float = 30.0  # total seconds that a client may delay a response,
    pace: int = 16_000  # plus one second for each of so many bytes that it reads
    poll: float = 0.05  # seconds between two checks of a slow client, at first; up to one second


class Pages:
    """ASGI application for HTTP requests of the WSGI application *pages*."""

    def __init__(
        self, pages: WSGI, *, threads: Executor, bodies: Bodies, refusal: Refusal, limits: Limits | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.unsent = 0  # bytes that slow clients have not read yet
        self._pages = pages
        self._threads = threads
        self._bodies = bodies
        self._refusal = refusal

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            body = await self._bodies.read(scope, receive)
        except Gone:
            return
        except Refused as refused:
            await self._refuse(scope, send, refused)
            return
        try:
            await self._answer(scope, body, send)
        finally:
            self._bodies.release(body)

    async def _answer(self, scope: Message, body: Body, send: Send) -> None:
        loop = asyncio.get_running_loop()
        answer = _Answer(self, scope, send, loop)
        done = loop.create_future()
        environ = _environ(scope, body)
        self._threads.submit(copy_context().run, self._run, environ, answer, done)
        await done
        await answer.write(is_last=True)
        await self._let_read(scope, 0)

    def _run(self, environ: Environ, answer: "_Answer", done: "asyncio.Future[None]") -> None:
        """Run the WSGI application, in a thread."""
        error: BaseException | None = None
        try:
            answer.produce(self._pages, environ)
        except Gone:
            pass
        except BaseException as raised:  # noqa: BLE001  (the server logs it and answers 500)
            error = raised
        with suppress(RuntimeError):  # the server has stopped
            answer.loop.call_soon_threadsafe(_finish, done, error)

    async def _let_read(self, scope: Message, most: int) -> None:
        """Wait until the client has read all but *most* bytes; disconnect it if it is too slow."""
        connection = scope.get(CONNECTION)
        if connection is None:
            return
        await asyncio.sleep(0)  # the loop passes on what the socket takes
        transport = connection.transport
        if (unread := transport.get_write_buffer_size()) > most:
            await self._wait_for(transport, unread, most)

    async def _wait_for(self, transport: Any, unread: int, most: int) -> None:
        patience, pause = self.limits.patience, self.limits.poll
        self.unsent += unread
        try:
            while unread > most and not transport.is_closing():
                await asyncio.sleep(pause)
                before, unread = unread, transport.get_write_buffer_size()
                self.unsent += unread - before
                patience = min(self.limits.patience, patience - pause + max(0, before - unread) / self.limits.pace)
                if patience <= 0 or (self.unsent > self.limits.of_all and unread == before):
                    transport.abort()  # too slow, or too many are slow: the rest is for those that read
                    break
                pause = min(1.0, pause * 2)
        finally:
            self.unsent -= unread

    async def _refuse(self, scope: Message, send: Send, refused: Refused) -> None:
        """Redirect, or say why the request is refused, and close the connection."""
        if refused.instead:
            status = HTTPStatus.SEE_OTHER
            headers, body = [(b"location", refused.instead.encode()), *BARE], b""
        else:
            status = refused.status
            headers, body = self._refusal(scope, status)
        said = [*headers, (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": status.value, "headers": said})
        await send({"type": "http.response.body", "body": body})
        await self._let_read(scope, 0)


class _Answer:
    """One response, between the thread that produces it and the connection."""

    def __init__(self, pages: Pages, scope: Message, send: Send, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._pages, self._scope, self._send = pages, scope, send
        self._status = 0
        self._headers: Headers = []
        self._pieces: list[bytes] = []
        self._has_begun = False

    def produce(self, application: WSGI, environ: Environ) -> None:
        """Run *application*, in a thread. Raises Gone if the client was disconnected."""
        parts = application(environ, self._start)
        try:
            size = 0
            for part in parts:
                self._pieces.append(part)
                size += len(part)
                if size > self._pages.limits.piece:
                    self._hand_over()
                    size = 0
        finally:
            getattr(parts, "close", lambda: None)()

    def _start(self, status: str, headers: Iterable[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        """Take status and headers: `start_response` of WSGI."""
        self._status = int(status[:3])
        self._headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        return self._pieces.append

    def _hand_over(self) -> None:
        """Write what there is and wait until the client has read enough of it."""
        asyncio.run_coroutine_threadsafe(self.write(is_last=False), self.loop).result()

    async def write(self, *, is_last: bool) -> None:
        """Write what the thread has produced. Raises Gone."""
        if not self._has_begun:
            await self._send({"type": "http.response.start", "status": self._status, "headers": self._headers})
            self._has_begun = True
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        await self._send({"type": "http.response.body", "body": body, "more_body": not is_last})
        if not is_last:
            limits = self._pages.limits
            await self._pages._let_read(self._scope, limits.of_one - limits.piece)
            connection = self._scope.get(CONNECTION)
            if connection is not None and connection.transport.is_closing():
                raise Gone


def _finish(done: "asyncio.Future[None]", error: BaseException | None) -> None:
    if done.done():  # cancelled: the server stops
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


def _environ(scope: Message, body: Body) -> Environ:
    """Return the WSGI environment.

    Headers with an underscore are left out: WSGI cannot distinguish ``X_Forwarded_For``, which any
    client can send, from ``X-Forwarded-For``, which the proxy sets. A chunked body gets its
    Content-Length, without which WSGI treats it as empty.
    """
    host, port = scope.get("server") or ("localhost", 80)
    address, from_port = scope.get("client") or ("", 0)
    environ: Environ = {
        **BASE,
        "asgi.scope": scope,
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": host,
        "SERVER_PORT": str(port or 0),
        "REMOTE_ADDR": address,
        "REMOTE_PORT": str(from_port),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": io.BytesIO(body.parts[0] if body.parts else b"") if len(body.parts) < 2 else _opened(body.parts),
    }
    for name, value in scope["headers"]:
        key = _key(name)
        if key in environ:
            environ[key] += f",{value.decode('latin-1')}"
        elif key:
            environ[key] = value.decode("latin-1")
    if body.size:
        environ["CONTENT_LENGTH"] = str(body.size)
    return environ


@lru_cache(1024)
def _key(name: bytes) -> str:
    """Return the name of a header in a WSGI environment; "" for one with an underscore."""
    if b"_" in name:
        return ""
    key = name.decode("latin-1").upper().replace("-", "_")
    return key if key in {"CONTENT_LENGTH", "CONTENT_TYPE"} else f"HTTP_{key}"


class _Parts(io.RawIOBase):
    """Reads parts of a body one after the other and frees each."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts[::-1]
        parts.clear()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._parts:
            return 0
        part = self._parts.pop()
        size = min(len(part), len(buffer))
        buffer[:size] = part[:size]
        if size < len(part):
            self._parts.append(part[size:])
        return size


def _opened(parts: list[bytes]) -> io.BufferedReader:
    return io.BufferedReader(_Parts(parts), 131_072)
