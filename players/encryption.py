"""Encryption of identity documents and of mail, and keyed hashes (fingerprints) to find equal values.

Both keys are derived from ``settings.DOCUMENT_KEY``; neither reveals the other. The setting may
name several keys (`players.key_rotation`): any of them decrypts, and searches use the fingerprints
of all.

Each ciphertext is bound to its purpose, its player and its row. Copied to another row, it cannot be
decrypted.
"""

import hmac
from enum import StrEnum
from uuid import UUID

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from players import key_rotation


class Purpose(StrEnum):
    """Kind of data that is encrypted."""

    DOCUMENT = "document"
    PAYOUT_ACCOUNT = "payout account"
    MAIL = "mail"


def seal(purpose: Purpose, player_id: int, row_id: UUID, content: bytes) -> bytes:
    """Encrypt *content* (AES-256-GCM, nonce in front) and bind it to purpose, player and row."""
    return key_rotation.seal(settings.DOCUMENT_KEY, content, _bound(purpose, player_id, row_id), _cipher)


def unseal(purpose: Purpose, player_id: int, row_id: UUID, sealed: bytes) -> bytes:
    """Decrypt the content of a row.

    Raises cryptography's InvalidTag if ciphertext, key, purpose, player and row do not belong
    together.
    """
    return key_rotation.unseal(settings.DOCUMENT_KEY, sealed, _bound(purpose, player_id, row_id), _cipher)


def resealed(purpose: Purpose, player_id: int, row_id: UUID, sealed: bytes) -> bytes | None:
    """Re-encrypt with the first key; return None if the first key was used already. Raises InvalidTag."""
    return key_rotation.resealed(settings.DOCUMENT_KEY, sealed, _bound(purpose, player_id, row_id), _cipher)


def seal_mail(address: str, template: str, text: str) -> bytes:
    """Encrypt the text of a mail and bind it to its address and template."""
    return key_rotation.seal(settings.DOCUMENT_KEY, text.encode(), _of_mail(address, template), _cipher)


def unseal_mail(address: str, template: str, sealed: bytes) -> str:
    """Decrypt the text of a mail. Raises cryptography's InvalidTag."""
    return key_rotation.unseal(settings.DOCUMENT_KEY, sealed, _of_mail(address, template), _cipher).decode()


def resealed_mail(address: str, template: str, sealed: bytes) -> bytes | None:
    """Re-encrypt a mail with the first key; return None if the first key was used already. Raises InvalidTag."""
    return key_rotation.resealed(settings.DOCUMENT_KEY, sealed, _of_mail(address, template), _cipher)


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


def fingerprints_with_keys(kind: str, value: bytes) -> list[bytes]:
    """Return the fingerprint under each key, followed by eight bytes that tell the key from another one.

    For values that are not kept: under a key that was replaced, nobody can say whether another one is the same.
    """
    keys = [key_rotation.derived(key, b"fingerprints") for key in key_rotation.keys_of(settings.DOCUMENT_KEY)]
    key_ids = [hmac.digest(key, b"key", "sha256")[:8] for key in keys]
    return [found + key_id for found, key_id in zip(fingerprints(kind, value), key_ids, strict=True)]


def _bound(purpose: Purpose, player_id: int, row_id: UUID) -> bytes:
    """Return the associated data of a ciphertext."""
    return f"{purpose}:{player_id}:{row_id}".encode()


def _of_mail(address: str, template: str) -> bytes:
    return f"{Purpose.MAIL}:{address}:{template}".encode()


def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key_rotation.derived_of(key, b"documents"))
