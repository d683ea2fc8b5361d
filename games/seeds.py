"""Seeds of shoes: generated, committed to, and encrypted until the shoe has ended.

A seed is 32 bytes from the operating system's generator. Until its shoe has ended it is stored
encrypted (AES-256-GCM, bound to the shoe's id) with a key that the database never has. Only the
commitment, its SHA-256, is shown. ``SEED_KEY`` may contain several keys (`players.key_rotation`).
Seeds of solo rounds are the dealer's (`games.deals`).
"""

import secrets
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.conf import settings

from games.engine.commitments import Purpose
from games.engine.shoe import commitment
from players import key_rotation

SEED_BYTES = 32


@dataclass(frozen=True)
class SealedSeed:
    """A round's id, the public commitment to its seed, and the encrypted seed."""

    round_id: UUID
    commitment: str
    sealed: bytes


def new_sealed_seed(purpose: Purpose) -> SealedSeed:
    """Generate the seed of a future round, or of a shoe, and commit to it."""
    round_id, seed = uuid4(), secrets.token_bytes(SEED_BYTES)
    sealed = key_rotation.seal(settings.SEED_KEY, seed, _bound(purpose, round_id))
    return SealedSeed(round_id, commitment(seed), sealed)


def unseal(purpose: Purpose, round_id: UUID, sealed: bytes) -> bytes:
    """Return the seed of *round_id*, the id of a round or a shoe.

    Raises cryptography's InvalidTag if ciphertext, key, purpose and id do not belong together.
    """
    return key_rotation.unseal(settings.SEED_KEY, sealed, _bound(purpose, round_id))


def resealed(purpose: Purpose, round_id: UUID, sealed: bytes) -> bytes | None:
    """Return a seed re-encrypted under the first key, or None if it already is.

    Raises InvalidTag.
    """
    return key_rotation.resealed(settings.SEED_KEY, sealed, _bound(purpose, round_id))


def _bound(purpose: Purpose, round_id: UUID) -> bytes:
    """Return the associated data of a sealed seed."""
    return purpose.encode() + b":" + round_id.bytes
