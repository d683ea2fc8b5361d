"""Fork server: starts the system and forks web and worker from one process that has imported all
modules.

The launcher runs it as ``python -m ops.fork_server DESCRIPTOR``, the descriptor of web's listening
socket.

A forked child imports nothing and shares memory with the parent, so restarts are immediate. This
process opens no database connection and no event loop, and has no threads when it forks; migrations
run in a child too. A demo also has its own signer of the event log and its own dealer. They are
executed instead of forked, with their own environment, because they must not share memory that
contains keys; in production each runs as another user (`audit.sealing.signer`, `games.dealer`).
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
from celery import current_app
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.urls import reverse

from ops import embedded, forked
from ops.embedded.children import Child, Program, describe, last_lines, open_log, wait_for_end
from ops.embedded.paths import EmbeddedError
from ops.i18n.sources import project
from ops.launcher import ADDRESS, STOP_SIGNALS, CannotOpen, say, stop_signals

HEALTH: Final = "/healthz"
POLL_SECONDS: Final = 1.0  # between two checks of the servers; the end of a child is noticed at once
SECONDS_TO_OPEN: Final = 60.0
SECONDS_TO_STOP: Final = 10.0
DEMO_LOG: Final = "sabot.demo/log"  # name of a demo's event log in its checkpoints
PRELOADED: Final = (
    "casino.urls",
    "casino.refusals",
    "ops.http.pages",
    "realtime.asgi",
    "realtime.hub",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.httptools_impl",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.worker.consumer",
    "kombu.transport.redis",
)
"""Modules that web and worker import at startup. Not `casino.asgi`: web creates its application itself."""


def preload() -> None:
    """Load what web and worker would each load for itself: modules, tasks and the addresses in the default language."""
    for name in PRELOADED:
        import_module(name)
    current_app.loader.import_default_modules()
    current_app.finalize()
    reverse("home")


class ForkServer:
    """One running system on one listening socket."""

    def __init__(self, listening: int) -> None:
        self._listening = listening
        self._children: list[Child] = []
        self._new_lines = _NewLines(embedded.Paths(settings.VAR_DIR).logs / "keeper.log")
        self._keeper: int | None = None

    def run(self) -> None:
        """Start, keep running until stopped, then stop. Raises CannotOpen, EmbeddedError."""
        with stop_signals() as asked:
            try:
                self._open()
                while not asked.is_set():
                    self._supervise()
                    wait_for_end(self._children, POLL_SECONDS)
            finally:
                for number in STOP_SIGNALS:
                    signal.signal(number, signal.SIG_IGN)
                self._close()

    def _open(self) -> None:
        """Do everything up to the first page and print each step."""
        with ThreadPoolExecutor(1) as executor:
            servers = executor.submit(self._start_servers) if _uses_embedded() else None
            django.setup()
            compile_texts(say)
            if servers:
                servers.result()
        migrating = _in_a_child(migrate)
        preload()  # while the migration runs
        _wait_for(migrating)
        _wait_for(_in_a_child(load))  # shares what was loaded above
        say("Starting web, worker and beat …")
        self._children = [
            *(Child(program, say, fork) for program in forked_programs(self._listening)),
            *(Child(program, say) for program in (beat(), *signers(), *dealers())),
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
        paths = embedded.Paths(settings.VAR_DIR)
        fresh = not paths.pointer.exists()
        say("Making a database …" if fresh else "Starting PostgreSQL and Valkey …")
        embedded.ensure_running(settings.VAR_DIR)
        self._keeper = embedded.keeper_pid(settings.VAR_DIR)
        self._new_lines.skip()

    def _wait_for_the_first_page(self, web: Child) -> None:
        """Wait until web answers. Raises CannotOpen with the end of its log if it does not."""
        deadline = time.monotonic() + SECONDS_TO_OPEN
        while not answers(int(settings.PORT)):
            status = web.exit_status()
            if status is not None or time.monotonic() > deadline:
                how = f"Web {describe(status)}" if status is not None else "Web did not answer"
                raise CannotOpen(f"{how}. The end of {web.program.log}:\n{last_lines(web.program.log)}")

    def _supervise(self) -> None:
        """Restart children that have ended, and report it."""
        for child in self._children:
            child.revive()
        if self._keeper is not None:
            self._supervise_servers()

    def _supervise_servers(self) -> None:
        """Print new lines of the keeper's log, which restarts the servers, and restart the keeper if it is gone."""
        for line in self._new_lines.lines():
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
        """Stop the children, then the embedded servers unless others use them."""
        for child in self._children:
            child.ask_to_stop()
        deadline = time.monotonic() + SECONDS_TO_STOP
        for child in self._children:
            if not child.wait(max(deadline - time.monotonic(), 0)):
                say(f"{child.program.name} did not stop in time and was killed")
        if self._keeper is not None and not embedded.leave(settings.VAR_DIR):
            say("PostgreSQL and Valkey stay up: another process uses them.")


class _NewLines:
    """Lines that another process appends to a log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = 0

    def skip(self) -> None:
        """Skip the current content."""
        self._seen = self._path.stat().st_size

    def lines(self) -> list[str]:
        """Return complete lines added since the last call; a truncated log is read from its beginning."""
        if self._path.stat().st_size < self._seen:
            self._seen = 0
        with self._path.open("rb") as log:
            log.seek(self._seen)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._seen += len(whole)
        return whole.decode(errors="replace").splitlines()


def forked_programs(listening: int) -> Iterator[Program]:
    """Yield web (first) and worker; *listening* is the descriptor of the socket that web's
    processes share.

    Each has the command line with which a process supervisor would start it.
    """
    for name, log in _webs(settings.WEB_PROCESSES):
        yield _program(name, web_arguments(listening), log)
    yield _program("Worker", (sys.executable, "-m", "casino.worker"), "worker.log")


def beat() -> Program:
    """Return beat, which is executed rather than forked: it needs a third of the imports."""
    return _program("Beat", (sys.executable, "manage.py", "beat"), "beat.log")


def signers() -> Iterator[Program]:
    """Yield a demo's signer. It must not get secrets, so its environment contains only what Python needs."""
    if settings.SIGNER_DIR:
        paths = ("--folder", str(settings.SIGNER_DIR), "--socket", settings.AUDIT_SIGNER)
        yield _apart("Signer", ("audit.sealing.signer", *paths, "--name", DEMO_LOG), "signer.log")


def dealers() -> Iterator[Program]:
    """Yield a demo's dealer, with an environment like the signer's."""
    if settings.DEALER_DIR:
        paths = ("--folder", str(settings.DEALER_DIR), "--socket", settings.DEALER)
        yield _apart("Dealer", ("games.dealer", *paths), "dealer.log")


def _apart(name: str, module: tuple[str, ...], log: str) -> Program:
    """Return a program that gets no secrets: its environment contains only what Python needs."""
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    logs = embedded.Paths(settings.VAR_DIR).logs
    return Program(name, (sys.executable, "-m", *module), logs / log, environment, folder=settings.BASE_DIR)


def _program(name: str, arguments: tuple[str, ...], log: str) -> Program:
    return Program(name, arguments, embedded.Paths(settings.VAR_DIR).logs / log, os.environ, folder=settings.BASE_DIR)


def _webs(processes: int) -> Iterator[tuple[str, str]]:
    """Yield name and log file of each web process."""
    yield "Web", "web.log"
    for number in range(2, processes + 1):
        yield f"Web {number}", f"web-{number}.log"


def fork(program: Program) -> forked.Forked:
    """Start *program*, a Python module, in a forked child. Raises RuntimeError where this process
    has threads or database connections, which cannot be shared.
    """
    if threading.active_count() > 1 or any(each.connection for each in connections.all(initialized_only=True)):
        raise RuntimeError("a process with threads or connections cannot be forked")
    gc.freeze()
    return forked.fork(lambda: _become(program), program.name.lower())


def _become(program: Program) -> None:
    """Run *program* in this process with its command line and write output to its log."""
    with open_log(program.log) as log:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(log.fileno(), stream.fileno())
    _python, _m, *sys.argv = program.arguments
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def migrate() -> None:
    """Migrate the database; in production after the checks have passed."""
    if not settings.DEMO:
        call_command("check")
    say("Bringing the tables up to date …")
    call_command("migrate", verbosity=0, interactive=False)


def load() -> None:
    """Load demo users and tables; in production collect the static files."""
    if settings.DEMO:
        say("Looking after the demo players …")
        call_command("load_demo", verbosity=0)
    else:
        call_command("collectstatic", verbosity=0, interactive=False)


def _in_a_child(work: Callable[[], None]) -> forked.Forked:
    """Start *work* in a child, so that its memory and connections are released when it ends."""

    def do() -> None:
        gc.disable()  # it ends soon
        try:
            work()
        except CommandError as error:
            sys.exit(f"CommandError: {error}")

    gc.freeze()
    return forked.fork(do, work.__name__)


def _wait_for(child: forked.Forked) -> None:
    """Wait until the work is done. Raises CannotOpen if it failed; the child has printed the reason."""
    if status := child.wait():
        raise CannotOpen(f"Sabot does not open: making the database ready {describe(status)}.")


def compile_texts(say: Callable[[str], None]) -> None:
    """Compile the message catalogues if `make` did not; otherwise the tables have no translations.

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
            " as the user who owns the folder."
        ) from error


def web_arguments(listening: int, application: str = "casino.asgi:application") -> tuple[str, ...]:
    """Return the command line of the web server on an inherited socket."""
    return (sys.executable, "-m", "ops.http.server", application, "--fd", str(listening))


def _uses_embedded() -> bool:
    """Return whether the database or the broker is embedded."""
    return settings.EMBEDDED or embedded.addresses(settings.VAR_DIR).broker_url == settings.BROKER_URL


def answers(port: int) -> bool:
    """Return whether web answers. The port is listening already, so the request waits until web is
    ready.

    A redirect to HTTPS or a refused host name counts as an answer.
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
    """Run the fork server; exit with status 1 where the system cannot start."""
    gc.disable()  # imports create no garbage, and collecting would write to memory pages that are shared
    try:
        ForkServer(int(sys.argv[1])).run()
    except (CannotOpen, EmbeddedError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
