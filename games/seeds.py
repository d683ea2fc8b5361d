"""Where chance comes from, and how it is kept secret until its round is dealt.

A seed is 32 bytes of the operating system's generator. Until its round is played it is stored encrypted (AES-256-GCM,
bound to the round's id) with a key that the database never sees; only the commitment, its SHA-256, is shown.
``SEED_KEY`` may name several keys (`players.key_rotation`).
"""

import secrets
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.conf import settings

from games.engine.shoe import commitment
from players import key_rotation

SEED_BYTES = 32


@dataclass(frozen=True)
class SealedSeed:
    """A round's id, the public commitment to its seed, and the seed as ciphertext."""

    round_id: UUID
    commitment: str
    sealed: bytes


def new_sealed_seed() -> SealedSeed:
    """Draw the seed of a round to come and commit to it."""
    round_id, seed = uuid4(), secrets.token_bytes(SEED_BYTES)
    return SealedSeed(round_id, commitment(seed), key_rotation.seal(settings.SEED_KEY, seed, round_id.bytes))


def unseal(round_id: UUID, sealed: bytes) -> bytes:
    """Return the seed of *round_id*. Raises cryptography's InvalidTag where ciphertext, key and round do not belong
    together.
    """
    return key_rotation.unseal(settings.SEED_KEY, sealed, round_id.bytes)


def resealed(round_id: UUID, sealed: bytes) -> bytes | None:
    """Return a seed that an older key sealed under the first one, still as ciphertext; None where it is. Raises
    InvalidTag.
    """
    return key_rotation.resealed(settings.SEED_KEY, sealed, round_id.bytes)
