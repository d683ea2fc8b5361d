"""Making a backup: a snapshot of the whole database, during operation."""

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
from ops.backup.pg_tools import CannotWrite, NotReady, ProgramFailed

# Login sessions are left out, so that a stolen backup cannot be used to log in, and so are
# CREDENTIALS_KEY and DEALER_PROOF_KEY, which `manage.py migrate` stores again.
ARCHIVE: Final = (
    "--format=custom",
    "--no-owner",
    "--exclude-table-data=public.players_browsersession",
    "--exclude-table-data=public.players_credential_key",
    "--exclude-table-data=public.games_dealer_key",
)


@dataclass(frozen=True)
class Taken:
    """A finished backup: file size, SHA-256, sealed events when it began, and the number of keys it
    is encrypted for (0 if it is not).
    """

    bytes: int
    sha256: str
    leaves: int
    readers: int


class MonitoredStream:
    """Output of pg_dump, passed to pg_restore as it is read: once encrypted, it cannot be checked here any more."""

    def __init__(self, dump: pg_tools.Program, check: pg_tools.Program) -> None:
        self._dump, self._check, self._is_read = dump, check, True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        piece = self._dump.stdout.read(size)
        if self._is_read:
            try:
                self._check.stdin.write(piece)
            except BrokenPipeError:  # pg_restore reports the reason when it ends
                self._is_read = False
        return piece


def back_up(file: Path, *, is_plain: bool = False) -> Taken:
    """Write a backup to *file*, which must not exist, and its SHA-256 to a file next to it; record
    it as an event. The file exists only if it is complete. It is encrypted for
    ``BACKUP_RECIPIENTS`` unless *is_plain*; then nothing is written to disk unencrypted.

    Raises CannotWrite, NotReady, ProgramFailed.
    """
    readers = [] if is_plain else encrypting.recipients()
    if not (readers or is_plain or settings.DEMO):
        raise NotReady(
            "BACKUP_RECIPIENTS is empty, so the backup would be readable for anyone. Set it to"
            " the public keys of those who may restore it, or use --plain."
        )
    beside = checksum_of(file)
    for each in (file, beside):
        if each.exists():
            raise CannotWrite(f"{each} already exists. Backups never overwrite a file.")
    pg_tools.demand_owner()
    leaves = sealer.leaves()
    draft = file.with_name(f"{file.name}.part")
    try:
        _make(draft)
        size, sha256 = _write(draft, readers)
        if digest(draft) != sha256:
            raise CannotWrite(f"{file} was not written: the file differs when read back.")
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
    """Write the archive while pg_restore unpacks it as a check; return its size and SHA-256. Raises
    OSError, ProgramFailed.
    """
    with (
        draft.open("wb") as file,
        pg_tools.started("pg_dump", *ARCHIVE, is_connected=True, writes=True) as dump,
        pg_tools.started("pg_restore", f"--file={os.devnull}", reads=True) as check,
    ):
        out, archive = encrypting.Counted(file), MonitoredStream(dump, check)
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
    """Return the path of the SHA-256 file of a backup."""
    return file.with_name(f"{file.name}.sha256")


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as whole:
        return hashlib.file_digest(whole, "sha256").hexdigest()


def _make(draft: Path) -> None:
    """Create an empty file that only its owner can read; a file left by an earlier attempt may be
    readable by others.
    """
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
