"""Seeds of rounds: generated, committed to, and encrypted until the round is dealt.

A seed is 32 bytes from the operating system's generator. Until its round is played it is stored
encrypted (AES-256-GCM, bound to the round's id) with a key that the database never has. Only the
commitment, its SHA-256, is shown. ``SEED_KEY`` may contain several keys (`players.key_rotation`).
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
    """A round's id, the public commitment to its seed, and the encrypted seed."""

    round_id: UUID
    commitment: str
    sealed: bytes


def new_sealed_seed() -> SealedSeed:
    """Generate the seed of a future round and commit to it."""
    round_id, seed = uuid4(), secrets.token_bytes(SEED_BYTES)
    return SealedSeed(round_id, commitment(seed), key_rotation.seal(settings.SEED_KEY, seed, round_id.bytes))


def unseal(round_id: UUID, sealed: bytes) -> bytes:
    """Return the seed of *round_id*.

    Raises cryptography's InvalidTag if ciphertext, key and round do not belong together.
    """
    return key_rotation.unseal(settings.SEED_KEY, sealed, round_id.bytes)


def resealed(round_id: UUID, sealed: bytes) -> bytes | None:
    """Return a seed re-encrypted under the first key, or None if it already is.

    Raises InvalidTag.
    """
    return key_rotation.resealed(settings.SEED_KEY, sealed, round_id.bytes)
