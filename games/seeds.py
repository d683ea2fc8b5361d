"""Where chance comes from, and how it is kept secret until its round is dealt.

A seed is 32 bytes of the operating system's generator. Until its round is played it is stored encrypted (AES-256-GCM,
bound to the round's id) with a key that the database never sees; only the commitment, its SHA-256, is shown.
"""

import base64
import secrets
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID, uuid4

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from games.engine.shoe import commitment

SEED_BYTES = 32
NONCE_BYTES = 12


@dataclass(frozen=True)
class SealedSeed:
    """A round's id, the public commitment to its seed, and the seed as ciphertext."""

    round_id: UUID
    commitment: str
    sealed: bytes


def new_sealed_seed() -> SealedSeed:
    """Draw the seed of a round to come and commit to it."""
    round_id, seed = uuid4(), secrets.token_bytes(SEED_BYTES)
    nonce = secrets.token_bytes(NONCE_BYTES)
    return SealedSeed(
        round_id, commitment(seed), nonce + _cipher(settings.SEED_KEY).encrypt(nonce, seed, round_id.bytes)
    )


def unseal(round_id: UUID, sealed: bytes) -> bytes:
    """Return the seed of *round_id*. Raises cryptography's InvalidTag where ciphertext, key and round do not belong
    together.
    """
    if len(sealed) <= NONCE_BYTES:
        raise InvalidTag
    return _cipher(settings.SEED_KEY).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], round_id.bytes)


@lru_cache(maxsize=2)
def _cipher(key: str) -> AESGCM:
    return AESGCM(base64.urlsafe_b64decode(key))
