"""Keeper: the process that starts PostgreSQL and Valkey, keeps them running while any process uses
them, and stops them afterwards.

`ops.embedded.users` starts it as ``python -m ops.embedded.keeper VAR PURPOSE START_LOCK REPORT``.
The last two are inherited descriptors: the start lock, which it releases when the servers are
ready, and a pipe to which it writes ``ready`` or an error.
"""

import os
import shutil
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ops.embedded import binaries, servers, users
from ops.embedded.children import Child, wait_for_end
from ops.embedded.paths import SHORT, EmbeddedError, Paths, Purpose
from ops.embedded.users import READY, FileLock

POLL_SECONDS = 0.5  # between two checks for users; a server that dies is noticed at once
SECONDS_FOR_LEFTOVERS = 60.0
SECONDS_TO_STOP = 60.0


class Keeper:
    """Both servers of one ``var/``."""

    def __init__(self, paths: Paths, purpose: Purpose) -> None:
        self.paths = paths
        self.purpose = purpose
        self.children: list[Child] = []
        self._is_stopping = False

    def start(self) -> None:
        """Start both servers and wait until they answer. Raises EmbeddedError; `stop` must still be called then."""
        users.prepare(self.paths)
        programs = binaries.for_servers(self.paths)
        leftovers = FileLock(self.paths.servers_lock).lock(seconds=SECONDS_FOR_LEFTOVERS)
        servers.prepare_cluster(self.paths, programs, self.purpose)
        inherited = (leftovers.descriptor,)
        database = Child(servers.postgres_program(self.paths, programs, self.purpose, inherited), say)
        broker = Child(servers.valkey_program(self.paths, programs, inherited), say)
        self.children = [database, broker]
        for child in self.children:
            child.start()
        servers.wait_for_postgres(self.paths, database)
        servers.wait_for_valkey(self.paths, broker)

    def tend(self) -> None:
        """Restart servers that die, until no process uses them or SIGTERM arrives. The users' lock
        is then held, so that new users wait.
        """
        users_lock = FileLock(self.paths.users_lock)
        while not (self._is_stopping or users_lock.try_lock()):
            for child in self.children:
                child.revive()
            wait_for_end(self.children, POLL_SECONDS)

    def stop(self) -> None:
        """Stop both servers cleanly, and remove temporary data."""
        for child in self.children:
            child.ask_to_stop()
        for child in self.children:
            if not child.wait(SECONDS_TO_STOP):
                say(f"{child.program.name} did not stop and was killed")
        if self.children and self.paths.sockets.parent == SHORT:
            shutil.rmtree(self.paths.sockets, ignore_errors=True)
        if not self.purpose.is_permanent:
            shutil.rmtree(self.paths.home, ignore_errors=True)
            shutil.rmtree(self.paths.var, ignore_errors=True)

    def stop_on_sigterm(self) -> None:
        """Make SIGTERM end `tend`, and ignore signals from the terminal."""
        signal.signal(signal.SIGTERM, self._on_sigterm)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _on_sigterm(self, *_: object) -> None:
        self._is_stopping = True


def say(text: str) -> None:
    """Write a line to the keeper's log, which the launcher shows too."""
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {text}", flush=True)


def main() -> None:
    """Run the keeper; exit with status 1 if the servers did not start."""
    var, purpose, start_lock, report = sys.argv[1:]
    if os.fork():
        os._exit(0)  # detaches the keeper from the process that started it, so that it cannot become its zombie
    paths = Paths(Path(var))
    keeper = Keeper(paths, Purpose(purpose))
    keeper.stop_on_sigterm()
    mine = FileLock(paths.keeper_lock).lock()
    os.ftruncate(mine.descriptor, 0)
    os.write(mine.descriptor, str(os.getpid()).encode())
    try:
        keeper.start()
    except (EmbeddedError, OSError) as error:
        say(f"Did not start: {error}")
        keeper.stop()
        _report(int(report), str(error).encode())
        sys.exit(1)
    os.close(int(start_lock))
    _report(int(report), READY)
    keeper.tend()
    keeper.stop()


def _report(pipe: int, answer: bytes) -> None:
    """Report to the process that started the keeper. It may have been killed while others use the servers already."""
    with suppress(BrokenPipeError):
        os.write(pipe, answer)
    os.close(pipe)


if __name__ == "__main__":
    main()
