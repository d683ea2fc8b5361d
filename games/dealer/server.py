"""Serves the dealer on a socket, to many connections in one thread.

A client that sends too long a request, or does not read its answers, is disconnected.
"""

import selectors
import socket
import sys
import time
from contextlib import suppress
from typing import Final

from games.dealer.dealer import Dealer
from games.dealer.protocol import LONGEST, answer

PAUSE: Final = 0.1  # seconds before accepting again after an error such as too many open files
BACKLOG: Final = 64


def listen_on(host: str, port: int) -> socket.socket:
    """Open a TCP port. Raises OSError."""
    return socket.create_server((host, port), backlog=BACKLOG)


def serve(listening: socket.socket, dealer: Dealer, ending: socket.socket | None = None) -> None:
    """Answer requests until there is something to read from *ending*."""
    listening.setblocking(False)
    unread: dict[socket.socket, bytes] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(listening, selectors.EVENT_READ)
        if ending is not None:
            selector.register(ending, selectors.EVENT_READ)
        try:
            while True:
                for key, _ in selector.select():
                    line = key.fileobj
                    assert isinstance(line, socket.socket)  # noqa: S101  (nothing else is registered)
                    if line is ending:
                        return
                    if line is listening:
                        _accept(listening, selector, unread)
                    elif not _read(line, dealer, unread):
                        selector.unregister(line)
                        del unread[line]
                        line.close()
        finally:
            for each in unread:
                each.close()


def _accept(listening: socket.socket, selector: selectors.BaseSelector, unread: dict[socket.socket, bytes]) -> None:
    """Accept a connection."""
    try:
        line, _ = listening.accept()
    except BlockingIOError:
        return
    except OSError as error:
        print(f"Nobody could be answered: {error}", file=sys.stderr, flush=True)
        time.sleep(PAUSE)
        return
    line.setblocking(False)
    with suppress(OSError):  # a Unix socket has no such option
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    unread[line] = b""
    selector.register(line, selectors.EVENT_READ)


def _read(line: socket.socket, dealer: Dealer, unread: dict[socket.socket, bytes]) -> bool:
    """Read what has come and answer whole requests; return False if the connection has to end."""
    try:
        more = line.recv(LONGEST)
    except BlockingIOError:
        return True
    except OSError:
        return False
    *requests, rest = (unread[line] + more).split(b"\n")
    for request in requests:
        said = answer(dealer, request)
        try:
            if line.send(said) < len(said):
                return False
        except OSError:
            return False
    unread[line] = rest
    return bool(more) and len(rest) <= LONGEST
