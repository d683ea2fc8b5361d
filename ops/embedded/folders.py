"""Private folders of the servers' account."""

import os
import stat
import time
from pathlib import Path

from ops.embedded.errors import DataOfAnotherAccount, UnsafeFolder
from ops.embedded.paths import OUTSIDE, Account, Places


def prepare(places: Places) -> None:
    """Create every folder of the servers, except the cluster. Raises UnsafeFolder, DataOfAnotherAccount."""
    if places.pointer.is_dir() and os.geteuid() not in (0, places.pointer.stat().st_uid):
        owner = places.pointer.stat().st_uid
        raise DataOfAnotherAccount(
            f"{places.pointer} belongs to user id {owner}: run this as the user who made it, or as root"
        )
    if places.home != places.var and not (places.pointer.is_symlink() and places.home.exists()):
        _settle_outside(places)
    for folder in (places.sockets, places.valkey):
        make_private(folder, places.account)


def _settle_outside(places: Places) -> None:
    """Create the data folder outside ``var/`` and link to it. An existing one belonged to a deleted ``var/``."""
    OUTSIDE.mkdir(parents=True, exist_ok=True, mode=0o755)
    if places.home.exists():
        places.home.rename(places.home.with_name(f"{places.home.name}.{time.time_ns()}"))
    make_private(places.home, places.account)
    (places.home / "README").write_text(f"Data of {places.var}, which the account of the servers cannot reach.\n")
    places.pointer.unlink(missing_ok=True)
    places.pointer.symlink_to(places.cluster)


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
