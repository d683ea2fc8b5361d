"""How long a demo house takes to open: from `manage.py run` to the first page, with nothing there yet (`first_start`)
and with the database of the first one (`next_start`), against starting PostgreSQL and Valkey alone in the same way.

A ratio says how many times as long here. What is aimed at are seconds on two quiet processors, which each start is told
with: 15 and 6 to the first page, and 4 of processor time until the database is ready.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

import psutil

from bench.contest import Pace, Result, Unavailable, say
from bench.places import PROJECT, WORK
from ops.embedded import Places

MOST: Final = 3  # rounds
SECONDS_TO_CLOSE: Final = 90.0
READY: Final = "Starting web"  # what a house prints once its database is ready,
OPEN: Final = "Sabot is open"  # and once it has answered the first request
SERVERS: Final = "from pathlib import Path; from ops.embedded import *; ensure_running(Path({!r})); leave(Path({!r}))"
UNIT: Final = "ms"
OURS: Final = ("first_start", "next_start")


@dataclass(frozen=True)
class Start:
    """Milliseconds that one start took: on the clock until the first page, and of processor time until the database was
    ready, in all processes.
    """

    page: float
    database: float


@dataclass(frozen=True)
class Starts:
    """Houses that open, each against servers that start."""

    about: str = "Opening a demo house, against starting its servers alone"
    aims: Mapping[str, None] = field(default_factory=lambda: dict.fromkeys(OURS))

    def measure(self, names: Collection[str], pace: Pace) -> list[Result]:
        """Measure the named ones. Raises Unavailable."""
        ours: dict[str, list[Start]] = {name: [] for name in OURS}
        servers: dict[str, list[float]] = {name: [] for name in OURS}
        rounds = min(pace.rounds, MOST)
        for number in range(1, rounds + 1):
            say(f"  {number} of {rounds}: {', '.join(names)}")
            with _folder() as var:
                for name in OURS:
                    ours[name].append(_open_house(var))
                    took = ours[name][-1]
                    say(f"  {name}: {took.page:,.0f} ms, {took.database:,.0f} ms of processor time for the database")
            with _folder() as var:
                for name in OURS:
                    servers[name].append(_start_servers(var))
        return [result for name in OURS if name in names for result in _results(name, ours[name], servers[name])]


def _results(name: str, starts: Collection[Start], servers: Collection[float]) -> Iterator[Result]:
    yardstick = median(servers)
    yield Result(name, median(start.page for start in starts), yardstick, UNIT, None)
    yield Result(f"{name}_cpu", median(start.database for start in starts), yardstick, UNIT, None)


@contextmanager
def _folder() -> Iterator[Path]:
    """Give a ``var/`` that is not there yet; everything in it goes afterwards."""
    WORK.mkdir(parents=True, exist_ok=True)
    top = Path(tempfile.mkdtemp(prefix="start-", dir=WORK))
    top.chmod(0o755)  # started by root, the servers run as another account
    try:
        yield top / "var"
    finally:
        shutil.rmtree(Places(top / "var").home, ignore_errors=True)
        shutil.rmtree(top, ignore_errors=True)


def _environment(var: Path) -> Mapping[str, str]:
    """Nothing is configured; the port is any."""
    ours = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return ours | {"SABOT_VAR": str(var), "SABOT_DEMO": "1", "PORT": "0"}


def _open_house(var: Path) -> Start:
    """Open a house and close it. Raises Unavailable."""
    began = time.monotonic()
    house = subprocess.Popen(
        [sys.executable, "manage.py", "run"], cwd=PROJECT, env=_environment(var), stdout=subprocess.PIPE, text=True
    )
    assert house.stdout
    database = 0.0
    try:
        for line in house.stdout:
            if line.startswith(READY):
                database = _processor_time(var)
            if line.startswith(OPEN):
                return Start(1000 * (time.monotonic() - began), 1000 * database)
        raise Unavailable("the house did not open; why stands above")
    finally:
        house.send_signal(signal.SIGINT)
        house.communicate(timeout=SECONDS_TO_CLOSE)


def _processor_time(var: Path) -> float:
    """Seconds that all processes of a house have used, with those that have ended."""
    used = 0.0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("SABOT_VAR") == str(var) or process.cwd().startswith(str(Places(var).home)):
                times = process.cpu_times()
                used += times.user + times.system + times.children_user + times.children_system
    return used


def _start_servers(var: Path) -> float:
    """Start PostgreSQL and Valkey and stop them; return the milliseconds. Raises Unavailable."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", SERVERS.format(str(var), str(var))], cwd=PROJECT, check=False)
    if done.returncode:
        raise Unavailable("the servers did not start; why stands above")
    return 1000 * (time.monotonic() - began)


SUITE: Final = Starts()
