"""A real web server on a real port, for browsers and for tests that kill it."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from tests.harness.databases import Database

PROJECT = Path(__file__).resolve().parents[2]
SECONDS_TO_START = 60.0
SECONDS_TO_STOP = 10.0


@dataclass
class WebServer:
    """A running server process and its address."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def printed(self) -> str:
        """Return everything it has written so far."""
        return self.log.read_text(errors="replace")


ServerStarter = Callable[..., WebServer]


def start(database: Database, log: Path, *, application: str, environment: Mapping[str, str]) -> WebServer:
    """Start *application* ("module:name") under uvicorn on a free port and wait until it answers. Fails the test if
    it does not.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening, log.open("wb") as output:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "uvicorn",
                application,
                "--fd",
                str(listening.fileno()),
                "--timeout-graceful-shutdown",
                "3",
            ],
            cwd=PROJECT,
            env=database.environment | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(listening.fileno(),),
        )
    server = WebServer(process, url, log)
    _wait_until_it_answers(server)
    return server


def stop(server: WebServer) -> None:
    """End it, the hard way if it hangs."""
    if server.process.poll() is None:
        server.process.terminate()
    try:
        server.process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def start_server(cloned_db: Database, tmp_path: Path) -> Iterator[ServerStarter]:
    """Return a function that starts a web server on the test's own database; all of them are stopped afterwards.

    ``start_server(application="casino.asgi:application", environment={})``
    """
    started: list[WebServer] = []

    def starter(
        *, application: str = "casino.asgi:application", environment: Mapping[str, str] | None = None
    ) -> WebServer:
        log = tmp_path / f"web-{len(started)}.log"
        started.append(start(cloned_db, log, application=application, environment=environment or {}))
        return started[-1]

    yield starter
    for server in started:
        stop(server)


@pytest.fixture
def web_server(start_server: ServerStarter) -> WebServer:
    """The house as it is, on the test's own database. A module that needs another application defines this fixture
    anew.
    """
    return start_server()


def _wait_until_it_answers(server: WebServer) -> None:
    """The port listens from the start, so that one request waits as long as the server takes; any answer will do."""
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            with urlopen(Request(server.url + "/", headers={"Accept": "text/html"}), timeout=2):  # noqa: S310
                return
        except HTTPError:
            return
        except (URLError, OSError):
            if server.process.poll() is not None or time.monotonic() > deadline:
                stop(server)
                pytest.fail(f"The web server did not answer:\n{server.printed()}", pytrace=False)
