"""File locks, which the kernel releases when their holder ends for any reason."""

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from ops.embedded.paths import StillHeld

POLL_SECONDS = 0.02


class FileLock:
    """A ``flock`` on *path*, which is created if missing.

    The lock belongs to the open file: a child that inherits `descriptor` holds it too. It is
    released when all of them have closed it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def try_lock(self, *, shared: bool = False) -> bool:
        """Take the lock if it is free; return whether it was taken."""
        try:
            fcntl.flock(self.descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def lock(self, *, shared: bool = False, seconds: float = 120) -> Self:
        """Wait for the lock. Raises StillHeld after *seconds*."""
        deadline = time.monotonic() + seconds
        while not self.try_lock(shared=shared):
            if time.monotonic() > deadline:
                self.close()
                raise StillHeld(f"{self.path} was still locked after {seconds:.0f} seconds")
            time.sleep(POLL_SECONDS)
        return self

    def close(self) -> None:
        """Close our descriptor; children that inherited it keep the lock."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def is_locked(path: Path) -> bool:
    """Return whether any process holds *path* exclusively."""
    if not path.exists():
        return False
    with FileLock(path) as probe:
        return not probe.try_lock(shared=True)
