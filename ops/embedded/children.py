"""Child processes that are restarted when they die, and that die with their parent."""

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

from ops.embedded.paths import Account

PR_SET_PDEATHSIG = 1
FIRST_DELAY = 0.25
LONGEST_DELAY = 10.0
STEADY_SECONDS = 30.0
LOG_BYTES = 5_000_000

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Program:
    """A program to run, and the signal that stops it."""

    name: str
    arguments: tuple[str, ...]
    log: Path
    environment: Mapping[str, str]
    stop_with: signal.Signals = signal.SIGTERM
    orphan_with: signal.Signals = signal.SIGKILL  # signal from the kernel when the parent is gone
    account: Account | None = None
    folder: Path | None = None
    inherited: tuple[int, ...] = field(default=())


def die_with_parent(with_signal: signal.Signals, parent: int) -> None:
    """Make the kernel send this process *with_signal* when *parent*, whose main thread started it, has ended."""
    _libc.prctl(PR_SET_PDEATHSIG, with_signal)
    if os.getppid() != parent:
        os._exit(1)


class Process(Protocol):
    """A child process, with part of the interface of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit status. Raises subprocess.TimeoutExpired."""

    def send_signal(self, sig: int) -> None:
        """Send a signal unless the process has ended."""

    def kill(self) -> None:
        """Kill the process."""


def spawn(program: Program) -> subprocess.Popen[bytes]:
    """Start *program* in its own session, so that Ctrl-C reaches only its parent. Must be called
    from the main thread, because the kernel watches the starting thread.
    """
    parent = os.getpid()

    account = program.account
    with open_log(program.log) as log:
        return subprocess.Popen(
            program.arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(program.environment),
            cwd=program.folder,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            start_new_session=True,
            pass_fds=program.inherited,
            # The kernel clears this setting when the account changes, so it is set last. Callers are single-threaded.
            preexec_fn=partial(die_with_parent, program.orphan_with, parent),  # noqa: PLW1509
        )


class Child:
    """A program that is kept running; *start* starts it."""

    def __init__(
        self, program: Program, say: Callable[[str], None], start: Callable[[Program], Process] = spawn
    ) -> None:
        self.program = program
        self._say = say
        self._start = start
        self._process: Process | None = None
        self._started_at = 0.0
        self._start_again_at = 0.0
        self._delay = 0.0

    def start(self) -> None:
        """Start the program."""
        self._process = self._start(self.program)
        self._started_at = time.monotonic()

    @property
    def pid(self) -> int | None:
        """The process ID while it runs; None before its start and after its end."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def exit_status(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self._process.poll() if self._process else None

    def revive(self) -> None:
        """Restart the program if it died, and report it: at once the first time, with growing
        delays if it keeps dying. Call this often.
        """
        now = time.monotonic()
        if self._process is None:
            if now >= self._start_again_at:
                self.start()
            return
        status = self._process.poll()
        if status is None:
            return
        self._delay = (
            0.0 if now - self._started_at > STEADY_SECONDS else min(self._delay * 2 or FIRST_DELAY, LONGEST_DELAY)
        )
        self._start_again_at = now + self._delay
        self._process = None
        self._say(f"{self.program.name} {describe(status)}; starting it again (see {self.program.log})")
        if not self._delay:
            self.start()

    def ask_to_stop(self) -> None:
        """Send the signal that stops the program cleanly."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(self.program.stop_with)

    def wait(self, seconds: float) -> bool:
        """Wait for the end, killing the program after *seconds*; return whether it ended by itself."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        return True


def wait_for_end(children: Iterable[Child], seconds: float) -> None:
    """Wait until one of *children* ends or must be restarted, for *seconds* at most."""
    running = [child.pid for child in children]
    ends = [os.pidfd_open(pid) for pid in running if pid]
    try:
        select.select(ends, [], [], seconds if all(running) else FIRST_DELAY)
    finally:
        for end in ends:
            os.close(end)


def describe(status: int) -> str:
    """Describe an exit status."""
    return (
        f"was killed by signal {-status} ({signal.Signals(-status).name})"
        if status < 0
        else f"ended with status {status}"
    )


def open_log(path: Path) -> BinaryIO:
    """Open a log for appending; a large one is renamed, and one old log is kept. Logs contain
    personal data, so their folder is readable only by its owner.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > LOG_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    return path.open("ab")


def last_lines(path: Path, count: int = 8) -> str:
    """Return the last lines of a log."""
    return "\n".join(path.read_text(errors="replace").splitlines()[-count:]) if path.exists() else ""
