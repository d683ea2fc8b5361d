"""How what players send in is kept from the database itself: encrypted, and recognised again only by who has the key.

Both keys are derived from ``settings.DOCUMENT_KEY``, so that neither tells anything about the other.
"""

import base64
import hmac
import secrets
from functools import lru_cache
from uuid import UUID

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

KEY_BYTES = 32
NONCE_BYTES = 12


def seal(document_id: UUID, content: bytes) -> bytes:
    """Return *content* encrypted (AES-256-GCM, nonce in front) and bound to the document's id."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + _cipher(settings.DOCUMENT_KEY).encrypt(nonce, content, document_id.bytes)


def unseal(document_id: UUID, sealed: bytes) -> bytes:
    """Return the content of the document. Raises cryptography's InvalidTag where ciphertext, key and document do not
    belong together.
    """
    return _cipher(settings.DOCUMENT_KEY).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], document_id.bytes)


def fingerprint(kind: str, value: bytes) -> bytes:
    """Return the HMAC-SHA-256 by which an equal *value* of the same *kind* is known again, and nothing else is."""
    return hmac.digest(_derived(settings.DOCUMENT_KEY, b"fingerprints"), kind.encode() + b"\0" + value, "sha256")


@lru_cache(maxsize=2)
def _cipher(key: str) -> AESGCM:
    return AESGCM(_derived(key, b"documents"))


@lru_cache(maxsize=4)
def _derived(key: str, purpose: bytes) -> bytes:
    hkdf = HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=None, info=b"sabot " + purpose)
    return hkdf.derive(base64.urlsafe_b64decode(key))
