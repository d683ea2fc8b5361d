"""Taking a backup: everything that the database holds, as of one moment, while play goes on."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audit import log, sealing
from casino.backup import programs
from casino.backup.errors import CannotWrite, ProgramFailed

# What log-ins are known by stays behind: whoever has a copy of the house must not be able to walk in with one.
ARCHIVE: Final = (
    "--format=custom",
    "--no-owner",
    "--exclude-table-data=public.django_session",
)


@dataclass(frozen=True)
class Taken:
    """A backup: how large the file is, its SHA-256, and how many events were sealed when it was begun."""

    bytes: int
    sha256: str
    leaves: int


def back_up(file: Path) -> Taken:
    """Write the house into *file*, which must not be there, with its SHA-256 in a file beside it, and record that it
    was taken out. The file is whole if it is there.

    Raises CannotWrite, NotReady, ProgramFailed.
    """
    beside = checksum_of(file)
    for each in (file, beside):
        if each.exists():
            raise CannotWrite(f"{each} is there already: a backup is written over nothing.")
    programs.demand_owner()
    leaves = sealing.leaves()
    draft = file.with_name(f"{file.name}.part")
    try:
        _make(draft)
        programs.run("pg_dump", *ARCHIVE, f"--file={draft}", is_connected=True)
        read(draft)
        sha256 = digest(draft)
        size = draft.stat().st_size
        beside.write_text(f"{sha256}  {file.name}\n")
        draft.rename(file)
        _sync(file.parent)
    except OSError as error:
        raise CannotWrite(f"{file} cannot be written: {error.strerror}") from error
    except ProgramFailed as error:
        raise CannotWrite(f"{file} was not written. {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    log.record("house.backed_up", by="system", on="house", data={"bytes": size, "leaves": leaves, "sha256": sha256})
    return Taken(size, sha256, leaves)


def checksum_of(file: Path) -> Path:
    """Return where the SHA-256 of a backup stands."""
    return file.with_name(f"{file.name}.sha256")


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as whole:
        return hashlib.file_digest(whole, "sha256").hexdigest()


def read(file: Path) -> None:
    """Read an archive from end to end, and unpack all of it. Raises ProgramFailed."""
    programs.run("pg_restore", f"--file={os.devnull}", file)


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
