"""Encryption of backups for public keys while they are written, so that a stolen backup cannot be
read.

The format is age (https://age-encryption.org/v1, X25519), which any age implementation can decrypt.
It authenticates each chunk and the end of the file, but not the author, since anyone has the public
keys. The SHA-256 shows that the file is the one that was written.
"""

import hashlib
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

import pyrage
from django.conf import settings
from pyrage.x25519 import Identity, Recipient

from ops.backup.pg_tools import CannotRead, NotReady

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
