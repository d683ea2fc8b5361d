"""A server between an API client and the house: it forwards everything, records the requests, and changes chosen
answers as a test asks.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Spoil = Callable[[bytes], bytes]


class Between(ThreadingHTTPServer):
    """A proxy at `url` for the house on *port*. Names are the part of a URL after the address of the log."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port = port
        self.asked: list[str] = []
        self.spoil: dict[str, Spoil] = {}
        self.refuse: dict[str, tuple[int, str]] = {}  # once: status, and after how many seconds to ask again
        self.hold = ""  # this one is not answered
        self.held = threading.Event()

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Between

    def do_GET(self) -> None:
        name = self.path.partition("/log/")[2]
        self.server.asked.append(name)
        if name == self.server.hold:
            self.server.held.set()
            return
        if name in self.server.refuse:
            status, after = self.server.refuse.pop(name)
            self._answer(status, b"", {"Retry-After": after})
            return
        house = HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        house.request("GET", self.path)
        answer = house.getresponse()
        self._answer(answer.status, self.server.spoil.get(name, bytes)(answer.read()), {})
        house.close()

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for header, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Do not log requests."""


@contextmanager
def state_between(port: int) -> Iterator[Between]:
    """Run a proxy for a house."""
    server = Between(port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
