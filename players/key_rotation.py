"""Encryption with several valid keys, so that a key can be replaced without stopping the service.

A setting holds the keys, separated by commas. The first key encrypts; any key decrypts. Ciphertext
does not name its key: the keys are tried in turn, and a wrong key fails.
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
"""Makes a cipher from the bytes of a key."""


def keys_of(setting: str) -> list[str]:
    """Return the keys of a setting; the first one encrypts."""
    return [key for key in re.split(r"[\s,]+", setting) if key]


@lru_cache(maxsize=32)
def bytes_of(key: str) -> bytes:
    """Return the bytes of a key in URL-safe base64."""
    return base64.urlsafe_b64decode(key)


@lru_cache(maxsize=32)
def derived(key: str, purpose: bytes) -> bytes:
    """Return the key derived from *key* for one purpose. It reveals nothing about *key*."""
    return derived_of(bytes_of(key), purpose)


def derived_of(key: bytes, purpose: bytes) -> bytes:
    """Derive a key for one purpose from the bytes of a key."""
    hkdf = HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=b"sabot " + purpose)
    return hkdf.derive(key)


def seal(setting: str, content: bytes, bound: bytes, make: Make = AESGCM) -> bytes:
    """Encrypt (AES-256-GCM, nonce in front) with the first key. Decryption needs the same *bound* data."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + _ciphers(setting, make)[0].encrypt(nonce, content, bound)


def unseal(setting: str, sealed: bytes, bound: bytes, make: Make = AESGCM) -> bytes:
    """Decrypt with any of the keys. Raises cryptography's InvalidTag if none fits or *bound* differs."""
    return _opened(setting, sealed, bound, make)[0]


def resealed(setting: str, sealed: bytes, bound: bytes, make: Make = AESGCM) -> bytes | None:
    """Re-encrypt with the first key; return None if the first key was used already. Raises InvalidTag."""
    content, is_first = _opened(setting, sealed, bound, make)
    return None if is_first else seal(setting, content, bound, make)


def _opened(setting: str, sealed: bytes, bound: bytes, make: Make) -> tuple[bytes, bool]:
    """Return the content, and whether the first key decrypted it."""
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
