"""Real processes that use the embedded servers, and what is left of them."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from casino.embedded import Places, Purpose, keeper_pid
from tests.harness.folders import fresh_folder

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 30.0

USE = """
import sys
from pathlib import Path
from casino.embedded import EmbeddedError, Purpose, ensure_running
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
    """A process that uses the servers of *var* until it is told to leave.

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
    """Give a place for a ``var/`` that any account can reach; everything that runs in it is gone afterwards."""
    top = fresh_folder("sabot-start-")
    var = top / "var"
    try:
        yield var
        wait_until(lambda: not processes_of(var), f"something is left of {var}")
    finally:
        for process in processes_of(var):
            process.kill()
        shutil.rmtree(Places(var).home, ignore_errors=True)
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


def server(var: Path, name: str) -> psutil.Process | None:
    """Return the main process of "postgres" or "valkey-server"."""
    keeper = keeper_pid(var)
    if keeper is None:
        return None
    children = psutil.Process(keeper).children()
    return next((child for child in children if child.name() == name), None)


def wait_until(holds: Callable[[], object], or_else: str) -> None:
    """Wait until *holds* does. Fails the test with *or_else* if it never does."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, or_else
        time.sleep(0.02)
