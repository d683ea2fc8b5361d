"""Folders for servers of tests, in memory if there is room: deleting a database on disk is slow."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108  (only as the parent of a private folder)
ROOM = 2 * 1024**3


def fresh_folder(prefix: str) -> Path:
    """Create a folder that all accounts can access, and remove it afterwards.

    If tests run as root, servers run under another account.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if _is_good(MEMORY) else None))
    folder.chmod(0o755)
    return folder


def _is_good(memory: Path) -> bool:
    """Return True if there is room and programs can be executed there.

    Server binaries may have to be copied into the folder.
    """
    return (
        memory.is_dir()
        and os.access(memory, os.W_OK)
        and shutil.disk_usage(memory).free > ROOM
        and not os.statvfs(memory).f_flag & os.ST_NOEXEC
    )
