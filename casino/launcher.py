"""Opens the house: servers, tables up to date, demo data, then web, worker and beat, each started again when it dies. A
demo house has its own signer of the event log besides; in production that runs as another user (`audit.signer`).

Whatever happens to the launcher, nothing stays behind: what it started dies with it (the kernel sees to that; a
killed one costs no money, by the first rule of the house), and the keeper of PostgreSQL and Valkey stops both when the
last of them is gone.
"""

import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from io import StringIO
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.core.management import call_command
from django.db import connections

from casino import embedded
from casino.embedded.children import Child, Program, describe, last_lines
from casino.embedded.errors import EmbeddedError
from casino.messages.sources import project

ADDRESS = "127.0.0.1"
BACKLOG = 512  # connections that wait while web starts again
HEALTH = "/healthz"
POLL_SECONDS = 0.2
SECONDS_TO_OPEN = 60.0
SECONDS_TO_STOP = 10.0
SECONDS_BETWEEN_CHECKS_OF_SERVERS = 1.0
WORKER_THREADS = 4
DEMO_LOG = "sabot.demo/log"  # what a demo's event log is called in its checkpoints
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class CannotOpen(Exception):
    """The house cannot open; the message says why in a line or two."""


class _Stop(BaseException):
    """Someone asked the house to close."""


class Launcher:
    """One house on one port."""

    def __init__(self, port: int, say: Callable[[str], None]) -> None:
        self._port = port
        self._say = say
        self._children: list[Child] = []
        self._news = _News(embedded.Places(settings.VAR_DIR).logs / "keeper.log")
        self._keeper: int | None = None
        self._servers_checked_at = 0.0

    def run(self) -> None:
        """Open, keep open until SIGINT, SIGTERM or SIGHUP, close. Raises CannotOpen, EmbeddedError."""
        with _stop_signals():
            try:
                with self._listen() as listening:
                    self._open(listening)
                    while True:
                        self._look_after()
                        time.sleep(POLL_SECONDS)
            except _Stop:
                self._say("Closing …")
            finally:
                _ignore_stop_signals()
                self._close()

    def _listen(self) -> socket.socket:
        """Take the port before anything else. Web inherits it, so that a restart of web refuses nobody."""
        try:
            listening = listening_socket(self._port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CannotOpen(
                    f"Port {self._port} is in use: choose another with PORT=, such as PORT={self._port + 1} make run"
                ) from error
            raise CannotOpen(f"Port {self._port} cannot be used: {error.strerror}") from error
        self._port = listening.getsockname()[1]
        os.environ["PORT"] = str(self._port)  # web tells banks where to send their messages
        return listening

    def _open(self, listening: socket.socket) -> None:
        """Do everything up to the first page, saying each step."""
        compile_texts(self._say)
        if _uses_embedded():
            self._start_servers()
        self._say("Bringing the tables up to date …")
        call_command("migrate", verbosity=0, interactive=False)
        if settings.DEMO:
            self._say("Looking after the demo players …")
            call_command("load_demo", verbosity=0)
        else:
            call_command("collectstatic", verbosity=0, interactive=False)
        connections.close_all()
        self._say("Starting web, worker and beat …")
        self._children = [Child(program, self._say) for program in programs(listening.fileno())]
        for child in self._children:
            child.start()
        self._wait_for_the_first_page(self._children[0])
        self._say(f"\nSabot is open: http://localhost:{self._port}/")
        if settings.DEMO:
            self._say("")
            call_command("demo_logins")
        self._say("\nCtrl-C closes it.")

    def _start_servers(self) -> None:
        places = embedded.Places(settings.VAR_DIR)
        fresh = not places.pointer.exists()
        self._say("Making a database …" if fresh else "Starting PostgreSQL and Valkey …")
        embedded.ensure_running(settings.VAR_DIR)
        self._keeper = embedded.keeper_pid(settings.VAR_DIR)
        self._news.skip()

    def _wait_for_the_first_page(self, web: Child) -> None:
        """Wait until web answers. Raises CannotOpen with the end of its log if it does not."""
        deadline = time.monotonic() + SECONDS_TO_OPEN
        while not answers(self._port):
            status = web.exit_status()
            if status is not None or time.monotonic() > deadline:
                how = f"Web {describe(status)}" if status is not None else "Web did not answer"
                raise CannotOpen(f"{how}. The end of {web.program.log}:\n{last_lines(web.program.log)}")

    def _look_after(self) -> None:
        """Start again what died, and say so."""
        for child in self._children:
            child.revive()
        if self._keeper is not None and time.monotonic() > self._servers_checked_at + SECONDS_BETWEEN_CHECKS_OF_SERVERS:
            self._servers_checked_at = time.monotonic()
            self._look_after_servers()

    def _look_after_servers(self) -> None:
        """The keeper looks after its servers and writes it in its log; the keeper itself is looked after here."""
        for line in self._news.lines():
            self._say(line)
        try:
            embedded.ensure_running(settings.VAR_DIR)
        except EmbeddedError as error:
            self._say(f"{error}\nTrying again …")
            return
        keeper = embedded.keeper_pid(settings.VAR_DIR)
        if keeper != self._keeper:
            self._say(f"The keeper of PostgreSQL and Valkey was gone; process {keeper} took over")
            self._keeper = keeper

    def _close(self) -> None:
        """Stop what was started, then the servers unless others use them."""
        for child in self._children:
            child.ask_to_stop()
        deadline = time.monotonic() + SECONDS_TO_STOP
        for child in self._children:
            if not child.wait(max(deadline - time.monotonic(), 0)):
                self._say(f"{child.program.name} did not stop in time and was killed")
        connections.close_all()
        if self._keeper is not None and not embedded.leave(settings.VAR_DIR):
            self._say("PostgreSQL and Valkey stay up: another process uses them.")
        if self._children:
            self._say("Closed.")


class _News:
    """The lines that another process adds to a log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = 0

    def skip(self) -> None:
        """Take all there is as read."""
        self._seen = self._path.stat().st_size

    def lines(self) -> list[str]:
        """Return whole lines added since the last call; a log that was begun anew is read from its beginning."""
        if self._path.stat().st_size < self._seen:
            self._seen = 0
        with self._path.open("rb") as log:
            log.seek(self._seen)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._seen += len(whole)
        return whole.decode(errors="replace").splitlines()


def programs(listening: int) -> tuple[Program, ...]:
    """Return web (first), worker and beat, and a demo's signer; *listening* is the descriptor of the socket that web's
    processes share.
    """
    logs = embedded.Places(settings.VAR_DIR).logs
    program = partial(
        Program,
        environment=os.environ | {"DJANGO_SETTINGS_MODULE": "casino.settings"},
        folder=settings.BASE_DIR,
    )
    worker = (
        "celery",
        "--quiet",
        "-A",
        "casino",
        "worker",
        "--pool=threads",
        f"--concurrency={WORKER_THREADS}",
        "--loglevel=INFO",
    )
    beat = (str(settings.BASE_DIR / "manage.py"), "beat")
    return (
        *(
            program(name, web_arguments(listening), logs / log, inherited=(listening,))
            for name, log in _webs(settings.WEB_PROCESSES)
        ),
        program("Worker", (sys.executable, "-m", *worker), logs / "worker.log"),
        program("Beat", (sys.executable, *beat), logs / "beat.log"),
        *_signer(logs / "signer.log"),
    )


def _signer(log: Path) -> Iterator[Program]:
    """The signer knows no secret of the house: of its environment it gets what Python needs."""
    if settings.SIGNER_DIR:
        places = ("--folder", str(settings.SIGNER_DIR), "--socket", settings.AUDIT_SIGNER)
        yield Program(
            "Signer",
            (sys.executable, "-m", "audit.signer", *places, "--name", DEMO_LOG),
            log,
            {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            folder=settings.BASE_DIR,
        )


def _webs(processes: int) -> Iterator[tuple[str, str]]:
    """Name each process of web and its log."""
    yield "Web", "web.log"
    for number in range(2, processes + 1):
        yield f"Web {number}", f"web-{number}.log"


def compile_texts(say: Callable[[str], None]) -> None:
    """Make what Django reads of the catalogues where `make` did not: without it no table has its languages.

    Raises CannotOpen.
    """
    if not (languages := project().uncompiled()):
        return
    say(f"Compiling the texts ({', '.join(languages)}) …")
    try:
        call_command("compile_messages", stdout=StringIO())
    except OSError as error:
        raise CannotOpen(
            f"The texts have to be compiled, and {error.filename} cannot be written: run manage.py compile_messages"
            " as the user whom the folder belongs to."
        ) from error


def listening_socket(port: int) -> socket.socket:
    """Take *port* (0: any) for web to inherit. Raises OSError.

    Web treats an inherited socket as a unix one and does not turn off Nagle's algorithm, by which the body of an answer
    would wait 40 ms for the browser to acknowledge its head; connections take this over from the socket they come from.
    """
    listening = socket.create_server((ADDRESS, port), backlog=BACKLOG)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def web_arguments(listening: int, application: str = "casino.asgi:application") -> tuple[str, ...]:
    """Return the command line of the web server on an inherited socket. Told to stop, it ends the streams of live
    tables at once, and whatever else it still answers after three seconds.
    """
    server = ("uvicorn", application, "--fd", str(listening), "--timeout-graceful-shutdown", "3", "--no-access-log")
    return (sys.executable, "-m", *server, "--no-proxy-headers", "--no-server-header")


def _uses_embedded() -> bool:
    """Whether the database or the broker is the embedded one."""
    return settings.EMBEDDED or embedded.addresses(settings.VAR_DIR).broker_url == settings.BROKER_URL


def answers(port: int) -> bool:
    """Ask web how it is. The port listens already, so that the question waits until web is there.

    A redirect to HTTPS or a refused host name is an answer too.
    """
    connection = HTTPConnection(ADDRESS, port, timeout=1)
    try:
        connection.request("GET", HEALTH)
        return connection.getresponse().status < HTTPStatus.INTERNAL_SERVER_ERROR
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def _stop_signals() -> Iterator[None]:
    """Turn the signals that mean "close" into _Stop."""

    def stop(number: int, frame: FrameType | None) -> None:
        _ignore_stop_signals()
        raise _Stop

    # Whoever started us under nohup wants us to outlive the terminal.
    wanted = [number for number in STOP_SIGNALS if not _ignored_hangup(number)]
    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignored_hangup(number: signal.Signals) -> bool:
    return number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN


def _ignore_stop_signals() -> None:
    """Closing takes seconds at most and is not interrupted."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
