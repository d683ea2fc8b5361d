"""The fork server: opens the house and forks web and worker from one process that has imported all of it.

Run by the launcher: ``python -m ops.fork_server DESCRIPTOR``, which is the socket that web listens on.

A forked child imports nothing and shares the memory of what was imported, so that a restart is instant. This process
opens no connection to the database and no event loop, and runs no thread when it forks: the tables are brought up to
date in a child too. A demo house also has its own signer of the event log. It is executed anew with an environment
of its own, since it may not share memory with keys; in production it runs as another user (`audit.sealing.signer`).
"""

import gc
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Final

import django
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections

from ops import embedded, forked
from ops.embedded.children import Child, Program, describe, last_lines, open_log, wait_for_end
from ops.embedded.errors import EmbeddedError
from ops.i18n.sources import project
from ops.launcher import ADDRESS, STOP_SIGNALS, CannotOpen, say, stop_signals

HEALTH: Final = "/healthz"
POLL_SECONDS: Final = 1.0  # between two looks at the servers; a child that ends is noticed at once
SECONDS_TO_OPEN: Final = 60.0
SECONDS_TO_STOP: Final = 10.0
# Without what Celery's workers tell each other every two seconds, for monitors that the house does not have.
WORKER: Final = (
    "--pool=threads",
    "--concurrency=4",
    "--loglevel=INFO",
    "--without-gossip",
    "--without-mingle",
    "--without-heartbeat",
)
DEMO_LOG: Final = "sabot.demo/log"  # what a demo's event log is called in its checkpoints
PRELOADED: Final = (
    "casino.urls",
    "ops.http.request_buffer",
    "realtime.asgi",
    "realtime.hub",
    "ops.http.response_buffer",
    "uvicorn.main",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.lifespan.on",
    "a2wsgi",
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.worker.consumer",
    "kombu.transport.redis",
)
"""What web and worker import as they start. Not `casino.asgi`: web makes its application itself."""


class ForkServer:
    """One open house on one listening socket."""

    def __init__(self, listening: int) -> None:
        self._listening = listening
        self._children: list[Child] = []
        self._news = _News(embedded.Places(settings.VAR_DIR).logs / "keeper.log")
        self._keeper: int | None = None

    def run(self) -> None:
        """Open, keep open until somebody asks to stop, close. Raises CannotOpen, EmbeddedError."""
        with stop_signals():
            try:
                self._open()
                while True:
                    self._look_after()
                    wait_for_end(self._children, POLL_SECONDS)
            finally:
                for number in STOP_SIGNALS:
                    signal.signal(number, signal.SIG_IGN)
                self._close()

    def _open(self) -> None:
        """Do everything up to the first page, printing each step."""
        with ThreadPoolExecutor(1) as beside:
            servers = beside.submit(self._start_servers) if _uses_embedded() else None
            django.setup()
            compile_texts(say)
            if servers:
                servers.result()
        migrating = _in_a_child(migrate)
        for name in PRELOADED:  # meanwhile
            import_module(name)
        _wait_for(migrating)
        _wait_for(_in_a_child(load))  # which has imported all of that
        say("Starting web, worker and beat …")
        self._children = [
            *(Child(program, say, fork) for program in forked_programs(self._listening)),
            *(Child(program, say) for program in (beat(), *signers())),
        ]
        for child in self._children:
            child.start()
        self._wait_for_the_first_page(self._children[0])
        say(f"\nSabot is open: http://localhost:{settings.PORT}/")
        if settings.DEMO:
            say("")
            call_command("demo_logins")
        say("\nCtrl-C closes it.")

    def _start_servers(self) -> None:
        places = embedded.Places(settings.VAR_DIR)
        fresh = not places.pointer.exists()
        say("Making a database …" if fresh else "Starting PostgreSQL and Valkey …")
        embedded.ensure_running(settings.VAR_DIR)
        self._keeper = embedded.keeper_pid(settings.VAR_DIR)
        self._news.skip()

    def _wait_for_the_first_page(self, web: Child) -> None:
        """Wait until web answers. Raises CannotOpen with the end of its log if it does not."""
        deadline = time.monotonic() + SECONDS_TO_OPEN
        while not answers(int(settings.PORT)):
            status = web.exit_status()
            if status is not None or time.monotonic() > deadline:
                how = f"Web {describe(status)}" if status is not None else "Web did not answer"
                raise CannotOpen(f"{how}. The end of {web.program.log}:\n{last_lines(web.program.log)}")

    def _look_after(self) -> None:
        """Start again what died, and say so."""
        for child in self._children:
            child.revive()
        if self._keeper is not None:
            self._look_after_servers()

    def _look_after_servers(self) -> None:
        """The keeper looks after its servers and writes it in its log; the keeper itself is looked after here."""
        for line in self._news.lines():
            say(line)
        try:
            embedded.ensure_running(settings.VAR_DIR)
        except EmbeddedError as error:
            say(f"{error}\nTrying again …")
            return
        keeper = embedded.keeper_pid(settings.VAR_DIR)
        if keeper != self._keeper:
            say(f"The keeper of PostgreSQL and Valkey was gone; process {keeper} took over")
            self._keeper = keeper

    def _close(self) -> None:
        """Stop what was started, then the servers unless others use them."""
        for child in self._children:
            child.ask_to_stop()
        deadline = time.monotonic() + SECONDS_TO_STOP
        for child in self._children:
            if not child.wait(max(deadline - time.monotonic(), 0)):
                say(f"{child.program.name} did not stop in time and was killed")
        if self._keeper is not None and not embedded.leave(settings.VAR_DIR):
            say("PostgreSQL and Valkey stay up: another process uses them.")


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


def forked_programs(listening: int) -> Iterator[Program]:
    """Yield web (first) and worker; *listening* is the descriptor of the socket that web's processes share.

    Each has the command line with which a supervisor of processes would start it by itself.
    """
    for name, log in _webs(settings.WEB_PROCESSES):
        yield _program(name, web_arguments(listening), log)
    yield _program(
        "Worker", (sys.executable, "-m", "celery", "--quiet", "-A", "casino", "worker", *WORKER), "worker.log"
    )


def beat() -> Program:
    """Return beat, which is executed anew: it needs a third of what the others have imported."""
    return _program("Beat", (sys.executable, "manage.py", "beat"), "beat.log")


def signers() -> Iterator[Program]:
    """Yield a demo's signer. It knows no secret of the house: of its environment it gets what Python needs."""
    if settings.SIGNER_DIR:
        places = ("--folder", str(settings.SIGNER_DIR), "--socket", settings.AUDIT_SIGNER)
        yield Program(
            "Signer",
            (sys.executable, "-m", "audit.sealing.signer", *places, "--name", DEMO_LOG),
            embedded.Places(settings.VAR_DIR).logs / "signer.log",
            {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            folder=settings.BASE_DIR,
        )


def _program(name: str, arguments: tuple[str, ...], log: str) -> Program:
    return Program(name, arguments, embedded.Places(settings.VAR_DIR).logs / log, os.environ, folder=settings.BASE_DIR)


def _webs(processes: int) -> Iterator[tuple[str, str]]:
    """Name each process of web and its log."""
    yield "Web", "web.log"
    for number in range(2, processes + 1):
        yield f"Web {number}", f"web-{number}.log"


def fork(program: Program) -> forked.Forked:
    """Start *program*, a Python module, in a child of this process. Raises RuntimeError where something is open that
    two processes may not share.
    """
    if threading.active_count() > 1 or any(each.connection for each in connections.all(initialized_only=True)):
        raise RuntimeError("a process with threads or connections cannot be forked")
    gc.freeze()
    return forked.fork(lambda: _become(program), program.name.lower())


def _become(program: Program) -> None:
    """Run *program* in this process, as its command line says; its output goes to its log."""
    with open_log(program.log) as log:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(log.fileno(), stream.fileno())
    _python, _m, *sys.argv = program.arguments
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def migrate() -> None:
    """Bring the tables up to date, in production where nothing unsafe is found."""
    if not settings.DEMO:
        call_command("check")
    say("Bringing the tables up to date …")
    call_command("migrate", verbosity=0, interactive=False)


def load() -> None:
    """Load the demo people and tables; in production collect the static files."""
    if settings.DEMO:
        say("Looking after the demo players …")
        call_command("load_demo", verbosity=0)
    else:
        call_command("collectstatic", verbosity=0, interactive=False)


def _in_a_child(work: Callable[[], None]) -> forked.Forked:
    """Begin *work* in a child: what it takes of memory goes with it, and connections that it opens."""

    def do() -> None:
        try:
            work()
        except CommandError as error:
            sys.exit(f"CommandError: {error}")

    gc.freeze()
    return forked.fork(do, work.__name__)


def _wait_for(child: forked.Forked) -> None:
    """Wait until the work is done. Raises CannotOpen, where the child has printed why."""
    if status := child.wait():
        raise CannotOpen(f"Sabot does not open: making the database ready {describe(status)}.")


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


def main() -> None:
    """Run as described above; ends with status 1 where the house cannot open."""
    gc.disable()  # nothing of what is imported is garbage, and looking for it would write to the pages that are shared
    try:
        ForkServer(int(sys.argv[1])).run()
    except (CannotOpen, EmbeddedError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
