"""Web server, ``python -m ops.http.server``: uvicorn without its clock, with limits for request heads.

It runs one process on one socket, inherited (``--fd``) or opened here (``--host``, ``--port``). On
a stop signal it finishes open requests, for at most ``--graceful`` seconds. uvicorn wakes up ten
times a second and waits forever for the rest of a head; this server sleeps until something happens.
"""

import argparse
import asyncio
import gc
import socket
import sys
from collections import OrderedDict
from collections.abc import Sequence
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import time
from types import FrameType
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from ops.http.pages import CONNECTION

APPLICATION: Final = "casino.asgi:application"
BACKLOG: Final = 512  # connections that wait to be accepted
SECONDS_FOR_A_HEAD: Final = 10.0  # from the connection, or from the first byte of a further request
LARGEST_HEAD: Final = 65_536  # bytes
INCOMPLETE_HEADS: Final = 512  # connections; one more closes the one that has waited longest
UNREAD_MILLISECONDS: Final = 60_000  # until the kernel drops a connection that acknowledges nothing


class State(ServerState):
    """State that the connections of a server share."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: OrderedDict[Connection, None] = OrderedDict()  # connections without a complete head, oldest first


class Connection(HttpToolsProtocol):
    """One connection, closed if a head does not arrive in time."""

    server_state: State

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; the first head is due."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._is_in_head = False
        self._head_size = 0
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Parse *data*; if a head is incomplete after it, watch the connection."""
        super().data_received(data)
        if self._is_in_head:
            self._head_size += len(data)
            if self._head_size > LARGEST_HEAD:
                self._close(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            elif self._timer is None:
                self._expect_head()

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._is_in_head = True
        self.server_state.default_headers = _dated(int(time()))
        super().on_message_begin()
        self.scope[CONNECTION] = self  # type: ignore[typeddict-unknown-key]

    def on_headers_complete(self) -> None:
        """Stop watching and start the request."""
        self._is_in_head = False
        self._head_size = 0
        if self._timer is not None:
            self._forget_head()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget_head()
        super().connection_lost(exc)

    def write_part(self, body: bytes) -> bool:
        """Write a part of the chunked body of the open response at once. Return whether that was done: not while the
        client is slow, nor before the head, nor after the end.
        """
        cycle = self.cycle
        if cycle is None or cycle.disconnected or self.flow.write_paused:
            return False
        if not (cycle.response_started and cycle.chunked_encoding) or cycle.response_complete:
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return True

    def _expect_head(self) -> None:
        self._timer = self.loop.call_later(SECONDS_FOR_A_HEAD, self._close, HTTPStatus.REQUEST_TIMEOUT)
        heads = self.server_state.heads
        heads[self] = None
        if len(heads) > INCOMPLETE_HEADS:
            next(iter(heads))._close(HTTPStatus.REQUEST_TIMEOUT)

    def _forget_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.server_state.heads.pop(self, None)

    def _close(self, status: HTTPStatus) -> None:
        """Close the connection, with an answer if a request has begun and none is open."""
        self._forget_head()
        if self.transport.is_closing():
            return
        if self._is_in_head and (self.cycle is None or self.cycle.response_complete):
            head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(head.encode())
        self.transport.close()


class Server(uvicorn.Server):
    """uvicorn's server, which sleeps until it is asked to stop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.server_state = State()
        self._stopped = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        """Wait for a stop signal."""
        self._loop = asyncio.get_running_loop()
        if not self.should_exit:
            await self._stopped.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: called in the main thread by the signal's handler."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)


@lru_cache(1)
def _dated(second: int) -> list[tuple[bytes, bytes]]:
    """Return the headers of every response in this second."""
    return [(b"date", formatdate(second, usegmt=True).encode())]


def main() -> None:
    """Serve until stopped."""
    given = parse(sys.argv[1:])
    listening = socket.socket(fileno=given.fd) if given.fd is not None else _listen(given.host, given.port)
    serve(given.application, listening, given.graceful)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a command line. Exits with status 2 if it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m ops.http.server", description=__doc__)
    parser.add_argument("application", nargs="?", default=APPLICATION, help="module:name")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--fd", type=int, help="descriptor of a listening socket")
    where.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--graceful", type=int, default=3, help="seconds that open requests get on a stop signal")
    return parser.parse_args(arguments)


def serve(application: Any, listening: socket.socket, graceful: int) -> None:
    """Serve *application*, an ASGI application or its "module:name", until stopped.

    Connections inherit options from the listening socket: with Nagle's algorithm, the body of a
    response would wait 40 ms until the browser acknowledges its head.
    """
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MILLISECONDS)
    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        log_config=None,  # settings.LOGGING
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=graceful,
    )
    config.load()  # before the loop runs: the start of the house asks the database, which a loop forbids
    gc.collect()
    gc.freeze()  # what is loaded stays: to look through it for garbage would stop everything for a tenth of a second
    Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Open a port. Exits with status 1 where it cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        sys.exit(f"Port {port} of {host} cannot be used: {error.strerror}")


if __name__ == "__main__":
    main()
