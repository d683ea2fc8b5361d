"""Benchmark of starting a demo house, empty and again.

Less is better.

The targets are 15 and 6 seconds to the first page on two idle processors, and 4 seconds of
processor time until the database is ready.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Final

import psutil

from bench.house import new_folder
from bench.measuring import Pace, Result, Unavailable
from ops.embedded import Paths
from ops.launcher import PROJECT

READY: Final = "Starting web"  # printed when the database is ready
OPEN: Final = "Sabot is open"  # printed when the first request was answered
SERVERS: Final = "from pathlib import Path; from ops.embedded import *; ensure_running(Path({!r})); leave(Path({!r}))"


def start(pace: Pace) -> list[Result]:
    """A demo house up to its first page, and up to its database in processor time, compared with
    its servers alone.
    """
    took: dict[str, tuple[list[float], list[float]]] = {}
    with ExitStack() as folders:  # removed at the end: ext4 without a journal is slow to create files for minutes after
        for _ in range(min(pace.rounds, 3)):
            house, servers = folders.enter_context(_folder()), folders.enter_context(_folder())
            for name in ("first_start", "next_start"):
                page, processor = _open_house(house)
                alone = _start_servers(servers)
                for figure, milliseconds in ((name, page), (f"{name}_cpu", processor)):
                    ours, yardstick = took.setdefault(figure, ([], []))
                    ours.append(milliseconds)
                    yardstick.append(alone)
    return [Result(name, median(ours), median(yardstick), "ms") for name, (ours, yardstick) in took.items()]


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a path for a ``var/`` that does not exist; remove it afterwards."""
    top = new_folder("start-")
    try:
        yield top / "var"
    finally:
        shutil.rmtree(Paths(top / "var").home, ignore_errors=True)
        shutil.rmtree(top, ignore_errors=True)


def _open_house(var: Path) -> tuple[float, float]:
    """Start an unconfigured house on any port and stop it.

    Return milliseconds. Raises Unavailable.
    """
    ours = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = ours | {"SABOT_VAR": str(var), "SABOT_DEMO": "1", "PORT": "0"}
    began, processor = time.monotonic(), 0.0
    house = subprocess.Popen(
        [sys.executable, "manage.py", "run"], cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert house.stdout
    try:
        for line in house.stdout:
            if line.startswith(READY):
                processor = _processor_time(var)
            if line.startswith(OPEN):
                return 1000 * (time.monotonic() - began), 1000 * processor
        raise Unavailable("the house did not open; the reason is above")
    finally:
        house.send_signal(signal.SIGINT)
        house.communicate(timeout=90.0)


def _processor_time(var: Path) -> float:
    """Return the seconds of all processes of a house, finished ones included."""
    used = 0.0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("SABOT_VAR") == str(var) or process.cwd().startswith(str(Paths(var).home)):
                times = process.cpu_times()
                used += times.user + times.system + times.children_user + times.children_system
    return used


def _start_servers(var: Path) -> float:
    """Start and stop PostgreSQL and Valkey. Return the milliseconds. Raises Unavailable."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", SERVERS.format(str(var), str(var))], cwd=PROJECT, check=False)
    if done.returncode:
        raise Unavailable("the servers did not start; the reason is above")
    return 1000 * (time.monotonic() - began)
