"""Forked processes: they start with everything that their parent has imported, and share its memory."""

import ctypes
import gc
import os
import signal
import subprocess
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from ops.embedded.children import die_with_parent
from ops.launcher import STOP_SIGNALS

ARG_START: Final = 47  # position in /proc/PID/stat of the start address of the command line; the end address follows
PR_SET_NAME: Final = 15

_libc = ctypes.CDLL(None)


class Forked:
    """A forked process, with part of the interface of `subprocess.Popen`."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self.pid = process.pid or 0

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit status. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        ended = self._process.exitcode
        if ended is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return ended

    def send_signal(self, sig: int) -> None:
        """Send a signal unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        """Ask the process to stop."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)


def fork(work: Callable[[], object], name: str) -> Forked:
    """Run *work* in a child that dies with this process and that `ps` shows as "sabot NAME". Must
    be called from the main thread, because the kernel watches the forking thread.
    """
    parent = os.getpid()

    def begin() -> None:
        os.setsid()
        die_with_parent(signal.SIGKILL, parent)
        for number in STOP_SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        name_process(name)
        gc.enable()
        work()

    process = get_context("fork").Process(target=begin, name=name, daemon=True)
    process.start()
    return Forked(process)


def name_process(name: str) -> None:
    """Make `ps` and `top` show this process as "sabot NAME" by overwriting its command line, as far as it fits."""
    _libc.prctl(PR_SET_NAME, f"sabot {name}".encode(), 0, 0, 0)
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = (int(fields[position - 2]) for position in (ARG_START, ARG_START + 1))
    line = b"\0".join((b"sabot", name.encode()))[: end - start - 1]
    ctypes.memmove(start, line.ljust(end - start, b"\0"), end - start)
