"""The keys of the dealer, in a folder that only its user may open.

- ``dealer.key``: the private key (Ed25519) that signs what was dealt, 32 bytes in hex
- ``dealer.pub``: the public key, in hex, to be given to auditors
- ``proof.key``: 32 bytes in URL-safe base64. The dealer proves each deal to the database with it
  (HMAC-SHA256), and ``manage.py migrate`` stores it there.

The key that encrypts seeds is in no file: each start of the dealer draws another one.
"""

import base64
import binascii
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audit.key_folder import CannotStart, open_folder, read_private, replace, write_once

KEY_BYTES: Final = 32
SIGNING, PUBLIC, PROOF = "dealer.key", "dealer.pub", "proof.key"


@dataclass(frozen=True)
class Keys:
    """The keys that stay the same from one start of the dealer to the next."""

    signing: Ed25519PrivateKey
    proof: bytes

    @property
    def public(self) -> str:
        """The public key in hex."""
        return self.signing.public_key().public_bytes_raw().hex()

    @property
    def proof_text(self) -> str:
        """The proof key as its file has it."""
        return base64.urlsafe_b64encode(self.proof).decode()

    @classmethod
    def new(cls) -> Self:
        """Draw new keys."""
        return cls(Ed25519PrivateKey.generate(), secrets.token_bytes(KEY_BYTES))

    @classmethod
    def opened(cls, folder: Path) -> Self:
        """Read the keys of *folder*; create those that do not exist. Raises CannotStart, OSError."""
        open_folder(folder)
        new = cls.new()
        write_once(folder / SIGNING, f"{new.signing.private_bytes_raw().hex()}\n".encode())
        write_once(folder / PROOF, f"{new.proof_text}\n".encode())
        try:
            private = bytes.fromhex(read_private(folder / SIGNING).strip())
            keys = cls(Ed25519PrivateKey.from_private_bytes(private), proof_key(read_private(folder / PROOF)))
        except ValueError as error:
            raise CannotStart(f"a key in {folder} is damaged: {error}") from error
        replace(folder / PUBLIC, f"{keys.public}\n".encode())
        return keys


def proof_key(text: str) -> bytes:
    """Return the bytes of a proof key. Raises ValueError."""
    try:
        key = base64.b64decode(text.strip(), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if len(key) != KEY_BYTES:
        raise ValueError(f"a proof key has {KEY_BYTES} bytes, this one {len(key)}")
    return key
