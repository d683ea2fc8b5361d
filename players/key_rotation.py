"""Keys of which several are good at a time, so that one can be replaced while the house plays.

A setting names them, separated by commas: the first one seals, each of them opens. What a key has sealed does not say
which one it was; it is tried, and a wrong one opens nothing.
"""

import base64
import re
import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12

Make = Callable[[bytes], AESGCM]
"""Makes a cipher of the bytes of a key."""


def keys_of(setting: str) -> list[str]:
    """Return the keys that a setting names, the one that seals first."""
    return [key for key in re.split(r"[\s,]+", setting) if key]


@lru_cache(maxsize=32)
def bytes_of(key: str) -> bytes:
    """Return a key, URL-safe base64, as bytes."""
    return base64.urlsafe_b64decode(key)


@lru_cache(maxsize=32)
def derived(key: str, purpose: bytes) -> bytes:
    """Return the key for one purpose that follows from another, and tells nothing of it."""
    return derived_of(bytes_of(key), purpose)


def derived_of(key: bytes, purpose: bytes) -> bytes:
    """Do that of the bytes of a key."""
    hkdf = HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=b"sabot " + purpose)
    return hkdf.derive(key)


def seal(setting: str, content: bytes, bound: bytes, make: Make = AESGCM) -> bytes:
    """Encrypt (AES-256-GCM, nonce in front) with the first key, for whoever names *bound* again."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + _ciphers(setting, make)[0].encrypt(nonce, content, bound)


def unseal(setting: str, sealed: bytes, bound: bytes, make: Make = AESGCM) -> bytes:
    """Decrypt with whichever key fits. Raises cryptography's InvalidTag where none does, or *bound* is another."""
    return _opened(setting, sealed, bound, make)[0]


def resealed(setting: str, sealed: bytes, bound: bytes, make: Make = AESGCM) -> bytes | None:
    """Return what an older key sealed, sealed with the first; None where it is. Raises InvalidTag."""
    content, is_first = _opened(setting, sealed, bound, make)
    return None if is_first else seal(setting, content, bound, make)


def _opened(setting: str, sealed: bytes, bound: bytes, make: Make) -> tuple[bytes, bool]:
    """Return the content, and whether the first key opens it."""
    if len(sealed) <= NONCE_BYTES:
        raise InvalidTag
    for number, cipher in enumerate(_ciphers(setting, make)):
        try:
            return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound), number == 0
        except InvalidTag:
            continue
    raise InvalidTag


@lru_cache(maxsize=16)
def _ciphers(setting: str, make: Make) -> tuple[AESGCM, ...]:
    return tuple(make(bytes_of(key)) for key in keys_of(setting))
