"""A backup is encrypted while it is written, to public keys: whoever takes it cannot read it.

The format is that of age (https://age-encryption.org/v1, X25519), so that any program for it opens a backup. It proves
each piece by itself and where the last one ends, and not who has written it: anybody has the public keys. That the file
is the one that the house wrote, its SHA-256 says.
"""

import hashlib
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

import pyrage
from django.conf import settings
from pyrage.x25519 import Identity, Recipient

from ops.backup.errors import CannotRead, NotReady

BEGINNING: Final = b"age-encryption.org/v1\n"
REFUSED: Final = (pyrage.DecryptError, OSError)


class Source(Protocol):
    """What is read to be encrypted."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes, none at the end."""


class Counted:
    """A file that is written: how many bytes, their SHA-256, and what failed, since pyrage would tell in its words."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sum = file, hashlib.sha256()
        self.bytes, self.failed = 0, None  # type: int, OSError | None

    @property
    def sha256(self) -> str:
        """In hexadecimal digits."""
        return self._sum.hexdigest()

    def write(self, data: bytes) -> int:
        """Write all of it. Raises OSError."""
        try:
            self._file.write(data)
        except OSError as error:
            self.failed = error
            raise
        self._sum.update(data)
        self.bytes += len(data)
        return len(data)

    def flush(self) -> None:
        """Have the system know all of it. Raises OSError."""
        self._file.flush()


def recipients() -> list[Recipient]:
    """Return for whose keys backups are encrypted, as the settings say. Raises NotReady."""
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
    except pyrage.IdentityError as error:  # whose words never name the key
        raise CannotRead(
            f"{file} is no file of secret keys: each of its lines begins with AGE-SECRET-KEY-1."
        ) from error
    if not found:
        raise CannotRead(f"{file} holds no secret key.")
    return found


def is_encrypted(file: Path) -> bool:
    """Say whether a backup is. Raises OSError."""
    with file.open("rb") as beginning:
        return beginning.read(len(BEGINNING)) == BEGINNING


def encrypt(source: Source, file: Counted, readers: list[Recipient]) -> None:
    """Encrypt *source* to its end, a piece at a time. Raises OSError where it cannot be written."""
    try:
        pyrage.encrypt_io(cast("BufferedIOBase", source), cast("BufferedIOBase", file), readers)
    except (pyrage.EncryptError, OSError) as error:
        raise file.failed or OSError(f"it cannot be encrypted: {error}") from error


def decrypt(file: Path, keys: list[Identity], into: BinaryIO) -> None:
    """Decrypt *file* to its end, a piece at a time, each once it is proven. Raises CannotRead; BrokenPipeError where
    nobody reads on.
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
