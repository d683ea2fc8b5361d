"""A line between browsers and the house that breaks over an answer: the house has done what it was asked, and a browser
never hears of it.
"""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PIECE = 65_536
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what is closed is reset


class BreakingLine:
    """Hands on what it is sent, but for the first answer to a POST to an address that ends like *breaks_at*."""

    def __init__(self, house: int) -> None:
        self.breaks_at: str | None = None
        self.seen: list[str] = []
        """First lines of the POST requests that the house was sent, in order."""
        self._house = house
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listening.getsockname()[1]

    def serve(self) -> None:
        """Take connections until it is closed."""
        with suppress(OSError):
            while True:
                browser, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(browser,), daemon=True).start()

    def close(self) -> None:
        """Take no more."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _serve(self, browser: socket.socket) -> None:
        house = socket.create_connection(("127.0.0.1", self._house))
        breaks = threading.Event()
        back = threading.Thread(target=self._hand_back, args=(house, browser, breaks), daemon=True)
        back.start()
        with suppress(OSError):
            while piece := browser.recv(PIECE):
                self._look(piece, breaks)
                house.sendall(piece)
            house.shutdown(socket.SHUT_WR)
        back.join()
        house.close()
        browser.close()

    def _look(self, piece: bytes, breaks: threading.Event) -> None:
        """A request begins with a piece: browsers ask one thing after another on a line."""
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
    """A line to the house at that port, while it is used."""
    line = BreakingLine(house)
    accepting = threading.Thread(target=line.serve, daemon=True)
    accepting.start()
    try:
        yield line
    finally:
        line.close()
        accepting.join()
