"""How what players send in is kept from the database itself: encrypted, and recognised again only by who has the key.

Both keys are derived from ``settings.DOCUMENT_KEY``, so that neither tells anything about the other. It may name
several (`players.key_rotation`): what is encrypted is opened by any of them, what is to be recognised is looked for by
all.
"""

import hmac
from uuid import UUID

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from players import key_rotation


def seal(document_id: UUID, content: bytes) -> bytes:
    """Return *content* encrypted (AES-256-GCM, nonce in front) and bound to the document's id."""
    return key_rotation.seal(settings.DOCUMENT_KEY, content, document_id.bytes, _cipher)


def unseal(document_id: UUID, sealed: bytes) -> bytes:
    """Return the content of the document. Raises cryptography's InvalidTag where ciphertext, key and document do not
    belong together.
    """
    return key_rotation.unseal(settings.DOCUMENT_KEY, sealed, document_id.bytes, _cipher)


def resealed(document_id: UUID, sealed: bytes) -> bytes | None:
    """Return what an older key sealed under the first one; None where it is. Raises InvalidTag."""
    return key_rotation.resealed(settings.DOCUMENT_KEY, sealed, document_id.bytes, _cipher)


def fingerprint(kind: str, value: bytes) -> bytes:
    """Return the HMAC-SHA-256 by which an equal *value* of the same *kind* is known again, and nothing else is."""
    return fingerprints(kind, value)[0]


def fingerprints(kind: str, value: bytes) -> list[bytes]:
    """Return that of each key: it may have been kept under an older one, or by a process that does not know the newest
    one as its first.
    """
    said = kind.encode() + b"\0" + value
    keys = key_rotation.keys_of(settings.DOCUMENT_KEY)
    return [hmac.digest(key_rotation.derived(key, b"fingerprints"), said, "sha256") for key in keys]


def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key_rotation.derived_of(key, b"documents"))
