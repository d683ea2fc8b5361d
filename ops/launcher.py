"""The launcher, `manage.py run`: takes the port, starts the fork server that opens the house, closes both on Ctrl-C.

It stays for as long as the house is open, so it imports no Django and holds a few megabytes. What it started dies with
it: the kernel kills the fork server when the launcher is gone, and the children of the fork server when that is gone. A
killed process costs no money.

PORT chooses the port (8000). Logs are in var/log.
"""

import argparse
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from types import FrameType

from ops.embedded.children import describe, die_with_parent

ADDRESS = "127.0.0.1"
BACKLOG = 512  # connections that wait while web restarts
HIGHEST_PORT = 65_535
PROJECT = Path(__file__).resolve().parent.parent
SECONDS_TO_STOP = 90.0  # the fork server waits for its children and then for PostgreSQL
SECONDS_BEFORE_RESTART = 1.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class CannotOpen(Exception):
    """The system cannot start; the message says why in a line or two."""


class Stop(BaseException):
    """The process was asked to stop."""


def main(arguments: Sequence[str]) -> None:
    """Run until Ctrl-C. Exits with status 1 where the system cannot start."""
    parser = argparse.ArgumentParser(prog="manage.py run", description=__doc__)
    parser.add_argument(
        "--with-parent", action="store_true", help="close when the process that started this one is gone"
    )
    if parser.parse_args(arguments).with_parent:
        die_with_parent(signal.SIGTERM, os.getppid())
    try:
        with stop_signals(), listen(port_from_environment()) as listening:
            sys.exit(run_fork_server(listening.fileno()))
    except CannotOpen as error:
        sys.exit(str(error))


def run_fork_server(listening: int) -> int:
    """Keep the fork server running until stopped. Return the exit status: that of a fork server
    that ended by itself, because it could not start the system and has printed why.
    """
    process: subprocess.Popen[bytes] | None = None
    try:
        while True:
            process = _start(listening)
            status = process.wait()
            if status >= 0:
                return status
            say(f"The fork server {describe(status)}; starting it again")
            time.sleep(SECONDS_BEFORE_RESTART)
    except Stop:
        say("Closing …")
        if process:
            _close(process)
        return 0


def _start(listening: int) -> "subprocess.Popen[bytes]":
    """Start the fork server in its own session, so that Ctrl-C in the terminal reaches only the launcher."""
    return subprocess.Popen(
        [sys.executable, "-m", "ops.fork_server", str(listening)],
        cwd=PROJECT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "casino.settings"},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(listening,),
        preexec_fn=partial(die_with_parent, signal.SIGKILL, os.getpid()),  # noqa: PLW1509  (one thread)
    )


def _close(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    say("Closed.")


def listen(port: int) -> socket.socket:
    """Open the port before anything else. Web inherits it, so a restart of web refuses no
    connection.

    Raises CannotOpen.
    """
    try:
        listening = listening_socket(port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CannotOpen(
                f"Port {port} is in use: choose another with PORT=, such as PORT={port + 1} make run"
            ) from error
        raise CannotOpen(f"Port {port} cannot be used: {error.strerror}") from error
    os.environ["PORT"] = str(listening.getsockname()[1])  # web gives banks the URL for their callbacks
    return listening


def listening_socket(port: int) -> socket.socket:
    """Open *port* (0: any) for web to inherit. Raises OSError."""
    return socket.create_server((ADDRESS, port), backlog=BACKLOG)


def port_from_environment() -> int:
    """Read PORT. Raises CannotOpen."""
    text = os.environ.get("PORT") or "8000"
    if not text.isdecimal() or int(text) > HIGHEST_PORT:
        raise CannotOpen(f"PORT must be a number from 0 to {HIGHEST_PORT}, not {text!r}.")
    return int(text)


@contextmanager
def stop_signals() -> Iterator[Event]:
    """Turn the first stop signal into `Stop` and ignore the following ones: stopping takes seconds at most.

    Yields an event that is set from then on. Python drops an exception that is raised in a destructor or in a
    callback of a weak reference, so a loop must look at it as well.
    """
    asked = Event()

    def stop(number: int, frame: FrameType | None) -> None:
        for each in STOP_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        asked.set()
        raise Stop

    # If SIGHUP is ignored already, nohup did that: the system is to outlive the terminal.
    wanted = [each for each in STOP_SIGNALS if not (each == signal.SIGHUP and signal.getsignal(each) == signal.SIG_IGN)]
    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield asked
    except Stop:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(text: str) -> None:
    """Print a line to the terminal."""
    print(text, flush=True)
