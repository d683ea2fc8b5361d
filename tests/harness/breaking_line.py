"""A proxy between browsers and the server that cuts the connection before an answer.

The server has carried out the request, but the browser never gets the answer.
"""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE = 65_536
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends RST


class BreakingLine:
    """Forwards requests, but drops the first answer to a POST whose path ends with *breaks_at*."""

    def __init__(self, house: int) -> None:
        self.breaks_at: str | None = None
        self.seen: list[str] = []
        """The first lines of the POST requests that were sent to the server."""
        self._house = house
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listening.getsockname()[1]

    def serve(self) -> None:
        """Accept connections until `close`."""
        with suppress(OSError):
            while True:
                browser, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(browser,), daemon=True).start()

    def close(self) -> None:
        """Stop accepting connections."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _serve(self, browser: socket.socket) -> None:
        house = socket.create_connection(("127.0.0.1", self._house))
        breaks = threading.Event()
        back = threading.Thread(target=self._hand_back, args=(house, browser, breaks), daemon=True)
        back.start()
        with suppress(OSError):
            while piece := browser.recv(PIECE):
                self._check(piece, breaks)
                house.sendall(piece)
            house.shutdown(socket.SHUT_WR)
        back.join()
        house.close()
        browser.close()

    def _check(self, piece: bytes, breaks: threading.Event) -> None:
        """Check a piece for the start of a request; browsers do not pipeline requests."""
        if not piece.startswith(b"POST "):
            return
        asked = piece.split(b"\r\n", 1)[0].decode()
        self.seen.append(asked)
        if self.breaks_at is not None and asked.split()[1].endswith(self.breaks_at):
            self.breaks_at = None
            breaks.set()

    def _hand_back(self, house: socket.socket, browser: socket.socket, breaks: threading.Event) -> None:
        with suppress(OSError):
            while piece := house.recv(PIECE):
                if breaks.is_set():
                    browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    browser.shutdown(socket.SHUT_RD)
                    house.shutdown(socket.SHUT_RDWR)
                    browser.close()
                    return
                browser.sendall(piece)


@contextmanager
def breaking_line(house: int) -> Iterator[BreakingLine]:
    """Run a proxy to the server at that port until the block ends."""
    line = BreakingLine(house)
    accepting = threading.Thread(target=line.serve, daemon=True)
    accepting.start()
    try:
        yield line
    finally:
        line.close()
        accepting.join()
