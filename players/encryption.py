"""Encryption of identity documents, and keyed hashes (fingerprints) to find equal values.

Both keys are derived from ``settings.DOCUMENT_KEY``; neither reveals the other. The setting may
name several keys (`players.key_rotation`): any of them decrypts, and searches use the fingerprints
of all.
"""

import hmac
from uuid import UUID

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from players import key_rotation


def seal(document_id: UUID, content: bytes) -> bytes:
    """Encrypt *content* (AES-256-GCM, nonce in front) and bind it to the document's id."""
    return key_rotation.seal(settings.DOCUMENT_KEY, content, document_id.bytes, _cipher)


def unseal(document_id: UUID, sealed: bytes) -> bytes:
    """Decrypt the content of a document.

    Raises cryptography's InvalidTag if ciphertext, key and document do not belong together.
    """
    return key_rotation.unseal(settings.DOCUMENT_KEY, sealed, document_id.bytes, _cipher)


def resealed(document_id: UUID, sealed: bytes) -> bytes | None:
    """Re-encrypt with the first key; return None if the first key was used already. Raises InvalidTag."""
    return key_rotation.resealed(settings.DOCUMENT_KEY, sealed, document_id.bytes, _cipher)


def fingerprint(kind: str, value: bytes) -> bytes:
    """Return the HMAC-SHA-256 of *value* for this *kind*, under the first key. Equal values have equal ones."""
    return fingerprints(kind, value)[0]


def fingerprints(kind: str, value: bytes) -> list[bytes]:
    """Return the fingerprint under each key.

    A value may have been stored under an older key, or by a process that does not yet use the
    newest key first.
    """
    said = kind.encode() + b"\0" + value
    keys = key_rotation.keys_of(settings.DOCUMENT_KEY)
    return [hmac.digest(key_rotation.derived(key, b"fingerprints"), said, "sha256") for key in keys]


def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key_rotation.derived_of(key, b"documents"))
