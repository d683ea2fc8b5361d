"""Real processes that use the embedded servers, and checks of what they leave behind."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Self
from urllib.request import urlopen

import psutil

from ops.embedded import Paths, Purpose, keeper_pid
from tests.harness.folders import fresh_folder

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 300.0  # that a busy machine may take for anything
SECONDS_FOR_A_COMMAND = 120.0

USE = """
import sys
from pathlib import Path
from ops.embedded import EmbeddedError, Purpose, ensure_running
try:
    ensure_running(Path(sys.argv[1]), Purpose(sys.argv[2]))
except EmbeddedError as error:
    print(error, flush=True)
    sys.exit(1)
print("ready", flush=True)
sys.stdin.read()
"""


def environment(var: Path, **extra: str) -> dict[str, str]:
    """Return the environment of a demo house in *var* with nothing configured."""
    ours = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return ours | {"SABOT_VAR": str(var), "SABOT_DEMO": "1", "DJANGO_SETTINGS_MODULE": "casino.settings"} | extra


class User:
    """A process that uses the servers of *var* until it is asked to leave.

    Unless what they wrote must be there at the next start, the servers are those of a test: a clean stop of durable
    ones waits a second or two for the disk.
    """

    def __init__(self, var: Path, purpose: Purpose = Purpose.TESTS) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USE, str(var), purpose.value],
            cwd=PROJECT,
            env=environment(var),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def answer(self) -> str:
        """Wait for ``ready`` or an error's first line."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        """End in the ordinary way."""
        self.process.communicate()

    def kill(self) -> None:
        """End with ``kill -9``."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def using(var: Path, purpose: Purpose = Purpose.TESTS) -> Iterator[User]:
    """Use the servers of *var* for a while."""
    user = User(var, purpose)
    try:
        assert user.answer() == "ready"
        yield user
    finally:
        user.kill()


@contextmanager
def fresh_var() -> Iterator[Path]:
    """Give a place for a ``var/`` that any account can reach; all processes that run in it are stopped afterwards."""
    top = fresh_folder("sabot-start-")
    var = top / "var"
    try:
        yield var
        wait_until(lambda: not processes_of(var), f"something is left of {var}")
    finally:
        for process in processes_of(var):
            with suppress(psutil.NoSuchProcess):  # it may just have ended; what went wrong is to be read
                process.kill()
        shutil.rmtree(Paths(var).home, ignore_errors=True)
        shutil.rmtree(top, ignore_errors=True)


def processes_of(var: Path) -> list[psutil.Process]:
    """Return every living process of the house in *var*: by its command line, its folder or its environment."""
    return [process for process in psutil.process_iter() if _belongs(process, str(var))]


def _belongs(process: psutil.Process, var: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return (
            any(var in argument for argument in process.cmdline())
            or process.cwd().startswith(var)
            or process.environ().get("SABOT_VAR") == var
        )
    except psutil.Error:
        return False


def server(var: Path, name: str) -> psutil.Process:
    """Return the main process of "postgres" or "valkey-server", waiting until it is there."""
    return _child(lambda: keeper_pid(var), lambda child: child.name() == name, name)


def _child(parent: Callable[[], int | None], fits: Callable[[psutil.Process], bool], name: str) -> psutil.Process:
    """Return the child of *parent* that *fits*, waiting until there is one."""
    found: list[psutil.Process] = []

    def look() -> bool:
        pid = parent()
        try:
            children = psutil.Process(pid).children(recursive=True) if pid else []
            found.extend(child for child in children if fits(child))
        except psutil.NoSuchProcess:
            return False
        return bool(found)

    wait_until(look, f"no {name} runs")
    return found[0]


def wait_until(holds: Callable[[], object], or_else: str) -> None:
    """Wait until *holds* does. Fails the test with *or_else* if it never does."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, or_else
        time.sleep(0.02)


def manage(var: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a manage.py command on the house in *var*, without a terminal."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env=environment(var, **extra),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_FOR_A_COMMAND,
    )


class House:
    """A manage.py command that keeps running, ``run`` by default, as a separate process on any free port."""

    def __init__(
        self, var: Path, *command: str, behind: tuple[str, ...] = (), extra: dict[str, str] | None = None
    ) -> None:
        self.var = var
        self._output = var.parent / f"{'-'.join(command or ('run',))}.printed"
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [*behind, sys.executable, "manage.py", *(command or ("run",))],
                cwd=PROJECT,
                env=environment(var, PORT="0", PYTHONUNBUFFERED="1", **(extra or {})),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def printed(self) -> str:
        """Return everything it has said so far."""
        return self._output.read_text()

    def says(self, text: str) -> None:
        """Wait until it has said *text*. Fails the test if it never does."""
        wait_until(lambda: text in self.printed() or self.process.poll() is not None, f"not said: {text}")
        assert text in self.printed(), self.printed()

    def open(self) -> Self:
        """Wait until it is open."""
        self.says("Ctrl-C closes it.")
        return self

    @property
    def url(self) -> str:
        """The address it printed."""
        found = re.search(r"Sabot is open: (http://localhost:\d+)/", self.printed())
        assert found, self.printed()
        return found[1]

    def answers(self) -> bool:
        """Say whether web and database are well."""
        try:
            with urlopen(f"{self.url}/healthz", timeout=5) as answer:  # noqa: S310
                return bool(answer.status == HTTPStatus.OK)
        except OSError:
            return False

    def child(self, word: str) -> psutil.Process:
        """Return web, worker, beat or signer by a word of its command line, waiting until it is there."""
        return _child(lambda: self.process.pid, lambda child: word in child.cmdline(), word)
