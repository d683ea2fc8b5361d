"""An independent signer for tests: signed notes made with ``cryptography`` and no code of the
house.
"""

import base64
import hashlib
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ORIGIN = "sabot.test/log"
NOON = 1_795_348_800  # 22 November 2026, 12:00 UTC
LOG, TIME = b"\x01", b"\x04"


@dataclass(frozen=True)
class Pen:
    """A private key and its name in signatures."""

    name: str = ORIGIN
    kind: bytes = LOG
    private: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    @property
    def vkey(self) -> str:
        data = self.kind + self.private.public_key().public_bytes_raw()
        return f"{self.name}+{self._hash.hex()}+{base64.b64encode(data).decode()}"

    @property
    def _hash(self) -> bytes:
        public = self.private.public_key().public_bytes_raw()
        return hashlib.sha256(self.name.encode() + b"\n" + self.kind + public).digest()[:4]

    def sign(self, body: str, seconds: int) -> str:
        """Return the signature line with its line end."""
        if self.kind == TIME:
            message = f"cosignature/v1\ntime {seconds}\n{body}"
            data = seconds.to_bytes(8, "big") + self.private.sign(message.encode())
        else:
            data = self.private.sign(body.encode())
        return f"— {self.name} {base64.b64encode(self._hash + data).decode()}\n"


@dataclass(frozen=True)
class Pens:
    """The two keys of a log: one signs its trees, one signs the time."""

    log: Pen = field(default_factory=Pen)
    time: Pen = field(default_factory=lambda: Pen(kind=TIME))

    @property
    def keys(self) -> str:
        """The file of keys that an auditor has."""
        return f"{self.log.vkey}\n{self.time.vkey}\n"

    def note(self, size: int, root: bytes, seconds: int = NOON, origin: str = ORIGIN) -> str:
        """Return a checkpoint with both signatures."""
        body = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"
        return f"{body}\n{self.log.sign(body, seconds)}{self.time.sign(body, seconds)}"
