"""Encrypted copies of the database: take one, restore one.

A backup is encrypted for public keys while it is written, so that a stolen one cannot be read. The format is age
(https://age-encryption.org/v1, X25519), which any age implementation can decrypt. It authenticates each chunk and the
end of the file, but not the author, since anyone has the public keys. The SHA-256 shows that the file is the one that
was written.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

import pyrage
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from pyrage.x25519 import Identity, Recipient

from audit import log
from audit.sealing import sealer
from ops.backup import pg_tools
from ops.backup.pg_tools import CannotRead, CannotWrite, NotEmpty, NotReady, OfAnotherRelease, ProgramFailed
from ops.privileges import APP_ROLE

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
    readers = [] if is_plain else recipients()
    if not (readers or is_plain or settings.DEMO):
        raise NotReady(
            "BACKUP_RECIPIENTS is empty, so the backup would be readable for anyone. Set it to"
            " the public keys of those who may restore it, or use --plain."
        )
    checksum_file = checksum_of(file)
    for each in (file, checksum_file):
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
        checksum_file.write_text(f"{sha256}  {file.name}\n")
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
        out, archive = Counted(file), MonitoredStream(dump, check)
        if readers:
            encrypt(archive, out, readers)
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


# The rights are restored, too: most functions that run as the owner are taken from everybody there.
WHOLE: Final = ("--single-transaction", "--exit-on-error", "--no-owner")
MIGRATIONS: Final = "django_migrations"
APPLICATION, NAME = 1, 2  # columns of it
HELD: Final = """
    SELECT count(*) FROM pg_class AS relation JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    WHERE namespace.nspname NOT LIKE 'pg\\_%' AND namespace.nspname <> 'information_schema'
"""
HAS_GROUP: Final = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)"
NAMED: Final = 5  # migrations of a newer program that a refusal names


Archive = Callable[[BinaryIO], object]
"""Writes the archive, decrypted, to the given file; what cannot be decrypted raises CannotRead."""


def restore(file: Path, sha256: str = "", identity: Path | None = None) -> None:
    """Write all that is in *file* into the owner's database, as one transaction, and bring its tables up to date. It is
    a copy then, which is to be settled before the house opens. Its SHA-256, if not given, is in the file next to it;
    *identity* is the file of the secret key where it is encrypted. Nothing is written to the disk in plain.

    Raises CannotRead, OfAnotherRelease, NotEmpty, NotReady; ProgramFailed where PostgreSQL would not take it. Nothing
    is changed then.
    """
    _demand_sum(file, sha256)
    archive = _opened(file, identity)
    _demand_whole(file, archive)
    _demand_known(file, archive)
    pg_tools.demand_owner()
    pg_tools.demand_alone()
    _demand_empty()
    pg_tools.run_on(archive, *WHOLE, is_connected=True)
    call_command("migrate", verbosity=0, interactive=False)
    with connections[pg_tools.OWNER].cursor() as cursor:
        cursor.execute("ANALYZE")  # no archive holds what PostgreSQL has learnt of its tables


def _demand_sum(file: Path, sha256: str) -> None:
    """Compare a file with its SHA-256. An archive has no checksum: PostgreSQL would restore one in which a guard of the
    ledger was changed. Anyone who knows the public key can encrypt another archive. Raises CannotRead.
    """
    checksum_file = checksum_of(file)
    try:
        found = digest(file)
        if not (sha256 or checksum_file.exists()):
            raise CannotRead(
                f"{file} cannot be verified: {checksum_file} is missing. Its SHA-256 was printed when it"
                " was created and is in the audit log (house.backed_up); pass it with --sha256."
            )
        due = sha256 or checksum_file.read_text().partition(" ")[0]
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRead(f"{file} cannot be read: {error}") from error
    if due.strip().lower() != found:
        raise CannotRead(f"{file} is damaged: its SHA-256 is {found}, expected {due}. Use another copy.")


def _opened(file: Path, identity: Path | None) -> Archive:
    """Return the reader of *file*. Raises CannotRead if the file needs a key that is missing or invalid."""
    if not is_encrypted(file):
        return partial(_copy, file)
    if identity is None:
        raise CannotRead(f"{file} is encrypted. Pass the file of the secret key with --identity.")
    return partial(decrypt, file, identities(identity))


def _copy(file: Path, into: BinaryIO) -> None:
    with file.open("rb") as source:
        shutil.copyfileobj(source, into)


def _demand_whole(file: Path, archive: Archive) -> None:
    """Read it from end to end, and unpack all of it. Raises CannotRead."""
    try:
        pg_tools.run_on(archive, f"--file={os.devnull}")
    except ProgramFailed as error:
        raise CannotRead(f"{file} is not a Sabot backup. {error}") from error


def _demand_known(file: Path, archive: Archive) -> None:
    """Demand that this program knows every change of the tables that the backup has seen. Raises OfAnotherRelease,
    CannotRead.
    """
    done = {(row[APPLICATION], row[NAME]) for row in pg_tools.rows(archive, MIGRATIONS)}
    if not done:
        raise CannotRead(f"{file} is not a Sabot backup: it contains no Sabot tables.")
    known = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    ours = {application for application, _ in known}
    if unknown := sorted(each for each in done if each not in known and each[0] in ours):
        named = ", ".join(".".join(each) for each in unknown[:NAMED])
        raise OfAnotherRelease(
            f"{file} was created by a newer version, with unknown migrations {named}. Restore it with that"
            " version or a later one."
        )


def _demand_empty() -> None:
    """Raises NotEmpty, NotReady."""
    with connections[pg_tools.OWNER].cursor() as cursor:
        cursor.execute(HELD)
        (held,) = cursor.fetchone()
        if held:
            name = connections[pg_tools.OWNER].settings_dict["NAME"]
            raise NotEmpty(
                f"The database {name} holds {held} tables and indexes already. A restore needs an "
                "empty database. Create"
                " one (docs/operating.md), or set DATABASE_URL and DATABASE_OWNER_URL to another."
            )
        cursor.execute(HAS_GROUP, [APP_ROLE])
        (has_group,) = cursor.fetchone()
        if not has_group:
            raise NotReady(f"The server has no role {APP_ROLE}: run manage.py create_roles first.")


BEGINNING: Final = b"age-encryption.org/v1\n"
REFUSED: Final = (pyrage.DecryptError, OSError)


class Source(Protocol):
    """Interface of the data to encrypt."""

    def read(self, size: int, /) -> bytes:
        """Return up to *size* bytes, empty at the end."""


class Counted:
    """Wraps an output file; counts and hashes its bytes, and keeps an OSError, because pyrage would reword it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sum = file, hashlib.sha256()
        self.bytes, self.failed = 0, None  # type: int, OSError | None

    @property
    def sha256(self) -> str:
        """The SHA-256 so far, in hexadecimal digits."""
        return self._sum.hexdigest()

    def write(self, data: bytes) -> int:
        """Write all of *data*. Raises OSError."""
        try:
            self._file.write(data)
        except OSError as error:
            self.failed = error
            raise
        self._sum.update(data)
        self.bytes += len(data)
        return len(data)

    def flush(self) -> None:
        """Flush to the operating system. Raises OSError."""
        self._file.flush()


def recipients() -> list[Recipient]:
    """Return the configured public keys. Raises NotReady."""
    found = []
    for each in settings.BACKUP_RECIPIENTS:
        try:
            found.append(Recipient.from_str(each))
        except pyrage.RecipientError as error:
            raise NotReady(
                f"BACKUP_RECIPIENTS: {each!r} is no public key of age: {error}. It begins with age1; age-keygen makes"
                " one, and writes the secret half into a file."
            ) from error
    return found


def identities(file: Path) -> list[Identity]:
    """Read the secret keys of an identity file, as age-keygen writes it. Raises CannotRead."""
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
        found = [Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRead(f"{file} cannot be read: {error}") from error
    except pyrage.IdentityError as error:  # its message never contains the key
        raise CannotRead(
            f"{file} is no file of secret keys: each of its lines begins with AGE-SECRET-KEY-1."
        ) from error
    if not found:
        raise CannotRead(f"{file} holds no secret key.")
    return found


def is_encrypted(file: Path) -> bool:
    """Return whether a backup is encrypted. Raises OSError."""
    with file.open("rb") as beginning:
        return beginning.read(len(BEGINNING)) == BEGINNING


def encrypt(source: Source, file: Counted, readers: list[Recipient]) -> None:
    """Encrypt *source* to its end, in chunks. Raises OSError where the file cannot be written."""
    try:
        pyrage.encrypt_io(cast("BufferedIOBase", source), cast("BufferedIOBase", file), readers)
    except (pyrage.EncryptError, OSError) as error:
        raise file.failed or OSError(f"it cannot be encrypted: {error}") from error


def decrypt(file: Path, keys: list[Identity], into: BinaryIO) -> None:
    """Decrypt *file* to its end, in chunks, each after it is authenticated. Raises CannotRead;
    BrokenPipeError where the reader has ended.
    """
    reader = Counted(into)
    with file.open("rb") as source:
        try:
            pyrage.decrypt_io(source, cast("BufferedIOBase", reader), keys)
        except REFUSED as error:
            if reader.failed:
                raise reader.failed from error
            if reader.bytes == 0 and isinstance(error, pyrage.DecryptError):
                raise CannotRead(
                    f"{file} does not open: it is encrypted for other keys than the one given, or its head is damaged"
                    f" ({error})."
                ) from error
            raise CannotRead(f"{file} is damaged or cut off: what follows cannot be decrypted ({error}).") from error
