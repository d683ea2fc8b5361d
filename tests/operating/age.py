"""Files of age, read as https://age-encryption.org/v1 says and without the library that the house writes them with."""

import base64
import hmac
from itertools import pairwise

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"  # of Bech32
CHUNK = 64 * 1024 + 16


def opened(file: bytes, identity: str) -> bytes:
    """Return what a file holds. Raises ValueError where *identity* is not one of those it is for."""
    head, _, rest = file.partition(b"\n--- ")
    line, _, body = rest.partition(b"\n")
    key = _file_key(head.split(b"\n"), _secret(identity))
    mac = hmac.digest(_derived(key, b"", b"header"), head + b"\n---", "sha256")
    if not hmac.compare_digest(mac, _base64(line)):
        raise ValueError("the head was changed")
    nonce, payload = body[:16], body[16:]
    cipher, plain = ChaCha20Poly1305(_derived(key, nonce, b"payload")), b""
    for number, begin in enumerate(range(0, len(payload), CHUNK)):
        is_last = begin + CHUNK >= len(payload)
        plain += cipher.decrypt(number.to_bytes(11, "big") + bytes([is_last]), payload[begin : begin + CHUNK], None)
    return plain


def _file_key(lines: list[bytes], secret: X25519PrivateKey) -> bytes:
    public = secret.public_key().public_bytes_raw()
    for line, wrapped in pairwise(lines):
        if line.startswith(b"-> X25519 "):
            share = _base64(line.split(b" ")[2])
            shared = secret.exchange(X25519PublicKey.from_public_bytes(share))
            key = _derived(shared, share + public, b"age-encryption.org/v1/X25519")
            try:
                return ChaCha20Poly1305(key).decrypt(bytes(12), _base64(wrapped), None)
            except Exception:  # noqa: BLE001, S112  (somebody else's)
                continue
    raise ValueError("it is for others")


def _derived(key: bytes, salt: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=info).derive(key)


def _base64(text: bytes) -> bytes:
    return base64.b64decode(text + b"=" * (-len(text) % 4))


def _secret(identity: str) -> X25519PrivateKey:
    """Read Bech32, but for its checksum."""
    data = identity.lower().rpartition("1")[2][:-6]
    number = 0
    for letter in data:
        number = number << 5 | LETTERS.index(letter)
    return X25519PrivateKey.from_private_bytes((number >> len(data) * 5 % 8).to_bytes(32, "big"))
