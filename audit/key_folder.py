"""The folder and the socket of a process that holds keys: the signer of the log, the dealer.

Only the user of the process may open the folder, and one process works in it at a time. Files are
written atomically and synced to disk. This module does not use Django.
"""

import fcntl
import grp
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

BACKLOG: Final = 64


class CannotStart(Exception):
    """The process cannot continue with this folder; the message says why."""


def open_folder(folder: Path) -> None:
    """Create the folder if needed. Raises CannotStart where other users may open it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_mode & 0o077:
        raise CannotStart(f"others than its owner may open {folder}")


def lock(path: Path, name: str) -> int:
    """Lock the folder of *path* and return the descriptor; closing it unlocks. Raises CannotStart."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise CannotStart(f"another {name} works in {path.parent}") from error
    return descriptor


def read_private(path: Path) -> str:
    """Read a private key file. Raises CannotStart where other users can read it."""
    if path.stat().st_mode & 0o077:
        raise CannotStart(f"others than its owner may read {path}")
    return path.read_text()


def replace(path: Path, content: bytes) -> None:
    """Write *content* to a file atomically and sync it to disk."""
    _draft(path, content).replace(path)
    sync(path.parent)


def write_once(path: Path, content: bytes) -> None:
    """Write *content* to a file as `replace` does, unless the file exists, also if another process creates it now."""
    draft = _draft(path, content)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    sync(path.parent)


def _draft(path: Path, content: bytes) -> Path:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    return draft


def sync(folder: Path) -> None:
    """Sync a directory to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def short(path: Path) -> Iterator[str]:
    """Return a name for a Unix socket that fits the limit of 107 bytes, however long the path of
    its folder.

    Raises FileNotFoundError without the folder.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def listen(at: Path, group: str = "") -> socket.socket:
    """Open a Unix socket for this user, and for *group* if given. Raises OSError, KeyError where the
    group does not exist.
    """
    at.parent.mkdir(parents=True, exist_ok=True, mode=0o755 if group else 0o700)
    at.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        with short(at) as name:
            listening.bind(name)
    finally:
        os.umask(before)
    if group:
        os.chown(at, -1, grp.getgrnam(group).gr_gid)
        at.chmod(0o660)
    listening.listen(BACKLOG)
    return listening
