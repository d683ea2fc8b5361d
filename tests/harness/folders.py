"""Folders for servers of tests: in memory where there is room, since a disk may take a second to forget a database."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108  (only as the parent of a private folder)
ROOM = 2 * 1024**3


def fresh_folder(prefix: str) -> Path:
    """Make a folder that every account can reach: started by root, servers run as another one. Remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if _is_good(MEMORY) else None))
    folder.chmod(0o755)
    return folder


def _is_good(memory: Path) -> bool:
    """Whether there is room, and programs may be run there: the servers' may have to be copied."""
    return (
        memory.is_dir()
        and os.access(memory, os.W_OK)
        and shutil.disk_usage(memory).free > ROOM
        and not os.statvfs(memory).f_flag & os.ST_NOEXEC
    )
