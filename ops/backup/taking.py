"""Taking a backup: everything that the database holds, as of one moment, while play goes on."""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings
from pyrage.x25519 import Recipient

from audit import log
from audit.sealing import sealer
from ops.backup import encrypting, pg_tools
from ops.backup.errors import CannotWrite, NotReady, ProgramFailed

# What log-ins are known by stays behind: whoever has a copy of the house must not be able to walk in with one.
ARCHIVE: Final = (
    "--format=custom",
    "--no-owner",
    "--exclude-table-data=public.django_session",
)


@dataclass(frozen=True)
class Taken:
    """A backup: how large the file is, its SHA-256, how many events were sealed when it was begun, and for how many
    keys it is encrypted, 0 where it is not.
    """

    bytes: int
    sha256: str
    leaves: int
    readers: int


class Watched:
    """What pg_dump writes, which pg_restore reads at the same moment: afterwards nobody here can read it."""

    def __init__(self, dump: pg_tools.Program, check: pg_tools.Program) -> None:
        self._dump, self._check, self._is_read = dump, check, True

    def read(self, size: int = -1) -> bytes:
        """Return what comes next."""
        piece = self._dump.stdout.read(size)
        if self._is_read:
            try:
                self._check.stdin.write(piece)
            except BrokenPipeError:  # why, it says at its end
                self._is_read = False
        return piece


def back_up(file: Path, *, is_plain: bool = False) -> Taken:
    """Write the house into *file*, which must not be there, with its SHA-256 in a file beside it, and record that it
    was taken out. The file is whole if it is there, encrypted for ``BACKUP_RECIPIENTS`` unless *is_plain*, and nothing
    of it ever lies on the disk in plain.

    Raises CannotWrite, NotReady, ProgramFailed.
    """
    readers = [] if is_plain else encrypting.recipients()
    if not (readers or is_plain or settings.DEMO):
        raise NotReady(
            "BACKUP_RECIPIENTS is empty: whoever found the file could read names, addresses and balances. Set it to"
            " the public keys of those who may put the house up again, or say --plain."
        )
    beside = checksum_of(file)
    for each in (file, beside):
        if each.exists():
            raise CannotWrite(f"{each} is there already: a backup is written over nothing.")
    pg_tools.demand_owner()
    leaves = sealer.leaves()
    draft = file.with_name(f"{file.name}.part")
    try:
        _make(draft)
        size, sha256 = _write(draft, readers)
        if digest(draft) != sha256:
            raise CannotWrite(f"{file} was not written: what is read from there is not what was written.")
        beside.write_text(f"{sha256}  {file.name}\n")
        draft.rename(file)
        _sync(file.parent)
    except OSError as error:
        raise CannotWrite(f"{file} cannot be written: {error.strerror or error}") from error
    except ProgramFailed as error:
        raise CannotWrite(f"{file} was not written. {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    log.record("house.backed_up", by="system", on="house", data={"bytes": size, "leaves": leaves, "sha256": sha256})
    return Taken(size, sha256, leaves, len(readers))


def _write(draft: Path, readers: list[Recipient]) -> tuple[int, str]:
    """Write the archive, which is unpacked from end to end meanwhile; return its size and SHA-256. Raises OSError,
    ProgramFailed.
    """
    with (
        draft.open("wb") as file,
        pg_tools.started("pg_dump", *ARCHIVE, is_connected=True, writes=True) as dump,
        pg_tools.started("pg_restore", f"--file={os.devnull}", reads=True) as check,
    ):
        out, archive = encrypting.Counted(file), Watched(dump, check)
        if readers:
            encrypting.encrypt(archive, out, readers)
        else:
            shutil.copyfileobj(archive, out)
        dump.end()
        check.end()
        out.flush()
        os.fsync(file.fileno())
    return out.bytes, out.sha256


def checksum_of(file: Path) -> Path:
    """Return where the SHA-256 of a backup stands."""
    return file.with_name(f"{file.name}.sha256")


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as whole:
        return hashlib.file_digest(whole, "sha256").hexdigest()


def _make(draft: Path) -> None:
    """Make an empty file that its owner alone reads; what lies there of an earlier attempt may be anybody's to read."""
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
