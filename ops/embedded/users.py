"""Use of the embedded servers: file locks, join, start if necessary, leave; their account's private folders."""

import fcntl
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from ops.embedded.children import last_lines, open_log
from ops.embedded.paths import (
    OUTSIDE,
    Account,
    Addresses,
    DataOfAnotherAccount,
    DidNotStart,
    NoServerAccount,
    Paths,
    Purpose,
    StillHeld,
    UnsafeFolder,
)

PROJECT = Path(__file__).resolve().parent.parent.parent
READY = b"ready"  # reported by a keeper on success; anything else is an error
POLL_SECONDS = 0.02


class FileLock:
    """A ``flock`` on *path*, which is created if missing. The kernel releases it when its holder ends for any reason.

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


_joined: dict[Path, FileLock] = {}
_one_at_a_time = threading.Lock()


def addresses(var: Path) -> Addresses:
    """Return the URLs of the servers of *var*; starts nothing."""
    return Paths(var).addresses


def ensure_running(var: Path, purpose: Purpose = Purpose.HOUSE) -> Addresses:
    """Make sure that the servers of *var* run, and keep them running while this process lives.
    Cheap if they run already.

    Raises EmbeddedError with advice where possible.
    """
    paths = Paths(var)
    with _one_at_a_time:
        if var not in _joined:
            paths.run.mkdir(parents=True, exist_ok=True)
            _joined[var] = FileLock(paths.users_lock).lock(shared=True)
        if not _are_up(paths):
            _start(paths, purpose)
    return paths.addresses


def leave(var: Path, seconds: float = 60) -> bool:
    """Stop using the servers of *var*, and wait until they have stopped unless others use them.
    Return whether they have stopped.
    """
    paths = Paths(var)
    with _one_at_a_time:
        mine = _joined.pop(var, None)
        if mine:
            mine.close()
    deadline = time.monotonic() + seconds
    while is_locked(paths.keeper_lock):
        if time.monotonic() > deadline or _others_use(paths):
            return False
        time.sleep(POLL_SECONDS)
    return True


def keeper_pid(var: Path) -> int | None:
    """Return the keeper's process ID, or None if the servers of *var* do not run."""
    paths = Paths(var)
    return int(paths.keeper_lock.read_text()) if is_locked(paths.keeper_lock) else None


def _are_up(paths: Paths) -> bool:
    """Return whether the servers answer. A keeper takes its lock before they start; the start lock
    is held until they answer.
    """
    return is_locked(paths.keeper_lock) and not is_locked(paths.start_lock)


def _others_use(paths: Paths) -> bool:
    """Return whether other processes hold the users' lock. It can then be taken shared but not
    exclusively; while a keeper stops, it cannot be taken at all.
    """
    if not paths.users_lock.exists():
        return False
    with FileLock(paths.users_lock) as probe:
        return not probe.try_lock() and probe.try_lock(shared=True)


def _start(paths: Paths, purpose: Purpose) -> None:
    """Start a keeper and wait for its report, unless another process has just done so."""
    if os.geteuid() == 0 and paths.account is None:
        raise NoServerAccount(
            "database servers refuse to run as root: make a user `postgres`, or run this as an ordinary user"
        )
    # The keeper inherits the lock: if this process is killed, it stays locked until the servers answer.
    with FileLock(paths.start_lock).lock() as starting:
        if is_locked(paths.keeper_lock):
            return
        answer = _run_keeper(paths, purpose, starting)
    if answer != READY:
        reason = answer.decode(errors="replace") or last_lines(_keeper_log(paths)) or "the keeper ended without a word"
        raise DidNotStart(f"The embedded servers did not start: {reason}")


def _run_keeper(paths: Paths, purpose: Purpose, starting: FileLock) -> bytes:
    """Run the keeper and return its report; empty if it dies first."""
    reading, writing = os.pipe()
    with open_log(_keeper_log(paths)) as log, os.fdopen(reading, "rb") as report:
        try:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "ops.embedded.keeper",
                    str(paths.var),
                    purpose.value,
                    str(starting.descriptor),
                    str(writing),
                ],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(starting.descriptor, writing),
            )
        finally:
            os.close(writing)
        process.wait()
        return report.read()


def _keeper_log(paths: Paths) -> Path:
    return paths.logs / "keeper.log"


def prepare(paths: Paths) -> None:
    """Create every folder of the servers, except the cluster. Raises UnsafeFolder, DataOfAnotherAccount."""
    if paths.pointer.is_dir() and os.geteuid() not in (0, paths.pointer.stat().st_uid):
        owner = paths.pointer.stat().st_uid
        raise DataOfAnotherAccount(
            f"{paths.pointer} belongs to user id {owner}: run this as the user who made it, or as root"
        )
    if paths.home != paths.var and not (paths.pointer.is_symlink() and paths.home.exists()):
        _settle_outside(paths)
    for folder in (paths.sockets, paths.valkey):
        make_private(folder, paths.account)


def _settle_outside(paths: Paths) -> None:
    """Create the data folder outside ``var/`` and link to it. An existing one belonged to a deleted ``var/``."""
    OUTSIDE.mkdir(parents=True, exist_ok=True, mode=0o755)
    if paths.home.exists():
        paths.home.rename(paths.home.with_name(f"{paths.home.name}.{time.time_ns()}"))
    make_private(paths.home, paths.account)
    (paths.home / "README").write_text(f"Data of {paths.var}, which the account of the servers cannot reach.\n")
    paths.pointer.unlink(missing_ok=True)
    paths.pointer.symlink_to(paths.cluster)


def make_private(folder: Path, account: Account | None) -> None:
    """Create *folder* for *account* only (None: the current user). Raises UnsafeFolder if it exists
    and others own it or can access it.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        _check(folder, account)
        return
    if account:
        os.chown(folder, account.uid, account.gid)


def _check(folder: Path, account: Account | None) -> None:
    """Check owner and mode, because folders in /tmp have predictable names."""
    status = folder.lstat()
    owner = account.uid if account else os.geteuid()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != owner or status.st_mode & 0o077:
        raise UnsafeFolder(f"{folder} is not a folder that user id {owner} alone may enter: remove it and try again")
