"""A real web server on a real port, for browsers and for tests that kill it."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.core.cache import cache
from pytest_django import DjangoDbBlocker

from ops.fork_server import answers
from ops.forked import Forked
from ops.launcher import listening_socket
from tests.harness import databases, nursery
from tests.harness.databases import Database

PROJECT = Path(__file__).resolve().parents[2]
SECONDS_TO_START = 60.0
SECONDS_TO_STOP = 10.0


@dataclass
class WebServer:
    """A running server process and its URL."""

    process: subprocess.Popen[bytes] | Forked
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Its URL without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def printed(self) -> str:
        """Return its output so far."""
        return self.log.read_text(errors="replace")


ServerStarter = Callable[..., WebServer]


def start(
    database: Database, log: Path, *, application: str, environment: Mapping[str, str], port: int = 0
) -> WebServer:
    """Start *application* ("module:name") and wait until it answers.

    Uses a free port if none is given. Fails the test if the server does not answer.
    """
    with listening_socket(port) as listening, log.open("wb") as output:
        port = listening.getsockname()[1]
        surroundings = database.environment | {"PORT": str(port)} | dict(environment)
        process = nursery.begin(application, listening.fileno(), output.fileno(), surroundings)
    server = WebServer(process, port, log)
    _wait_until_it_answers(server)
    return server


def stop(server: WebServer) -> None:
    """Stop the server; kill it if it hangs."""
    if server.process.poll() is None:
        server.process.terminate()
    try:
        server.process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def start_server(cloned_db: Database, tmp_path: Path) -> Iterator[ServerStarter]:
    """Return a function that starts web servers on the test's database; all are stopped afterwards.

    ``start_server(application="casino.asgi:application", environment={}, port=0)``. With the port
    of a killed server, browsers can reconnect.
    """
    started: list[WebServer] = []

    def starter(
        *, application: str = "casino.asgi:application", environment: Mapping[str, str] | None = None, port: int = 0
    ) -> WebServer:
        log = tmp_path / f"web-{len(started)}.log"
        started.append(start(cloned_db, log, application=application, environment=environment or {}, port=port))
        return started[-1]

    yield starter
    for server in started:
        stop(server)


@pytest.fixture
def web_server(start_server: ServerStarter) -> WebServer:
    """The real application on the test's database.

    A module that needs another application overrides this fixture.
    """
    return start_server()


@pytest.fixture(scope="module")
def server_of_module(
    django_db_setup: Database, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebServer]:
    """The real application for all tests of a module, on one database that keeps what they commit.

    It is started once and stays warm. Use it, by `kept_server`, where each test has its own players and shared
    tables and counts only theirs, and without `cloned_db` and ``django_db``.
    """
    log = tmp_path_factory.mktemp("server") / "web.log"
    with django_db_blocker.unblock(), databases.clone("module") as database:
        server = start(database, log, application="casino.asgi:application", environment={})
        try:
            yield server
        finally:
            stop(server)
    databases.demand_untouched(django_db_setup)


@pytest.fixture
def kept_server(server_of_module: WebServer) -> WebServer:
    """The server of the module, without what earlier tests have left in the cache, such as clicks that were counted."""
    cache.clear()
    return server_of_module


def _wait_until_it_answers(server: WebServer) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not answers(server.port):
        if server.process.poll() is not None or time.monotonic() > deadline:
            stop(server)
            pytest.fail(f"The web server did not answer:\n{server.printed()}", pytrace=False)
