"""A stream client without a browser that keeps every byte."""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from django.conf import settings

PATIENCE = 30.0  # seconds: the limit for a busy machine


@dataclass(frozen=True)
class Notifications:
    """One event of a stream."""

    kind: str
    number: str
    html: str

    @classmethod
    def of(cls, block: str) -> Self:
        lines = [line.partition(": ") for line in block.splitlines()]
        fields = {name: value for name, _, value in lines if name != "data"}
        html = "\n".join(value for name, _, value in lines if name == "data")
        return cls(fields.get("event", ""), fields.get("id", ""), html)


class Watcher:
    """Reads a stream in its own thread; or does not read, with small buffers."""

    def __init__(
        self, url: str, address: str, *, reads: bool = True, cookie: str = "", headers: Mapping[str, str] = {}
    ) -> None:
        at = urlsplit(url)
        self.line = socket.socket()
        if not reads:
            self.line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.line.connect((at.hostname, at.port))
        cookies = f"Cookie: other=1; {settings.SESSION_COOKIE_NAME}={cookie}\r\n" if cookie else ""
        said = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.line.sendall(f"GET {address} HTTP/1.1\r\nHost: {at.netloc}\r\n{cookies}{said}\r\n".encode())
        self.bytes = b""
        self.is_over = False
        self._taken, self._rest = 0, b""  # bytes that were taken apart, and the event that is not complete
        self._news: list[Notifications] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        if reads:
            self.read()

    @property
    def status(self) -> int:
        self.wait(lambda: b"\r\n\r\n" in self.bytes)
        return int(self.bytes.split(b" ", 2)[1])

    @property
    def received(self) -> list[Notifications]:
        """Return all complete events so far."""
        self._take_apart()
        return list(self._news)

    def of(self, kind: str) -> list[Notifications]:
        return [each for each in self.received if each.kind == kind]

    def read(self) -> None:
        """Start reading."""
        self._reader.start()

    def wait(self, condition: Callable[[], object], *, what: str = "") -> None:
        """Wait until the condition is true; fail the test after a timeout."""
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE), (
                f"{what or 'waited in vain'}; read: "
                f"{[(each.kind, each.number, each.html[:160]) for each in self.received]}"
            )

    def wait_for(self, kind: str, containing: str = "") -> Notifications:
        """Wait for an event of this kind that contains a text; return the last such event."""

        def found() -> list[Notifications]:
            return [each for each in self.of(kind) if containing in each.html]

        self.wait(found, what=f"no {kind} event with {containing!r}")
        return found()[-1]

    def wait_for_end(self) -> None:
        """Wait until the server has ended the stream."""
        self.wait(lambda: self.is_over or self.bytes.endswith(b"\r\n0\r\n\r\n"), what="the stream did not end")

    def close(self) -> None:
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)
        self.line.close()

    def _take_apart(self) -> None:
        """Add the events that have become complete to the news, without HTTP chunk lengths."""
        if not self._taken:
            self._taken = self.bytes.find(b"\r\n\r\n") + 4
            if self._taken < 4:
                self._taken = 0
                return
        while (end := self.bytes.find(b"\r\n", self._taken)) != -1:
            length = int(self.bytes[self._taken : end] or b"0", 16)
            if len(self.bytes) < end + 2 + length + 2:
                break
            self._rest += self.bytes[end + 2 : end + 2 + length]
            self._taken = end + 2 + length + 2
        *blocks, self._rest = self._rest.split(b"\n\n")
        self._news += [Notifications.of(block.decode()) for block in blocks if block.startswith(b"event: ")]

    def _read(self) -> None:
        while True:
            try:
                read = self.line.recv(65536)
            except OSError:
                read = b""
            with self._changed:
                self.bytes += read
                self.is_over = not read
                self._changed.notify_all()
            if not read:
                return


@contextmanager
def watching(url: str, *addresses: str) -> Iterator[list[Watcher]]:
    """Open a stream at each URL, and close them at the end."""
    watchers = [Watcher(url, address) for address in addresses]
    try:
        yield watchers
    finally:
        for watcher in watchers:
            watcher.close()
