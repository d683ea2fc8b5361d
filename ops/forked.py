"""Processes that are forked: they begin with all that their parent has imported, and share its memory."""

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

ARG_START: Final = 47  # where /proc/PID/stat has the address of the command line; that of its end is next
PR_SET_NAME: Final = 15

_libc = ctypes.CDLL(None)


class Forked:
    """A forked process, with what is asked of a `subprocess.Popen`."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self.pid = process.pid or 0

    def poll(self) -> int | None:
        """Return how it ended, or None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return how it ended. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        ended = self._process.exitcode
        if ended is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return ended

    def send_signal(self, sig: int) -> None:
        """Send it a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        """Ask it to stop."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)


def fork(work: Callable[[], object], name: str) -> Forked:
    """Do *work* in a child of this process, which dies with it and which `ps` shows as "sabot NAME". Call from the main
    thread, which the kernel watches.
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
    """Have `ps` and `top` show this process as "sabot NAME": write over its command line, as much as there is room."""
    _libc.prctl(PR_SET_NAME, f"sabot {name}".encode(), 0, 0, 0)
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = (int(fields[position - 2]) for position in (ARG_START, ARG_START + 1))
    line = b"\0".join((b"sabot", name.encode()))[: end - start - 1]
    ctypes.memmove(start, line.ljust(end - start, b"\0"), end - start)
