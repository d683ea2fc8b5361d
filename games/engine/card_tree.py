"""The cards of a shoe as a Merkle tree, so that each card can be checked as soon as it is dealt.

Each card has a salt, which follows from the seed of the shoe. Its leaf is a hash of its place, the
card and the salt, so nobody can guess a card from its leaf. The root is committed to before the
first bet. Anyone who has a card and its salt can compute the leaf, and with the path from there to the
root that the card was at this place from the beginning. The tree is that of RFC 6962 (2.1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Final

from games.engine.cards import Card
from games.engine.shoe import checked, hkdf_blocks

SALT_BYTES: Final = 16
HASH_BYTES: Final = 32


def salts(seed: bytes, count: int, player_value: str = "") -> tuple[bytes, ...]:
    """Return the salts of the first *count* cards, at most 510: HKDF-SHA256 of the seed, 16 bytes each.

    Raises SeedError if the seed does not have 32 bytes.
    """
    blocks = hkdf_blocks(checked(seed), salt=player_value.encode(), info=b"sabot salts v1")
    halves = chain.from_iterable((block[:SALT_BYTES], block[SALT_BYTES:]) for block in blocks)
    return tuple(islice(halves, count))


def leaf(place: int, card: Card, salt: bytes) -> bytes:
    """Return the leaf of a card; *place* counts from 0 in dealing order."""
    text = f"sabot card v1\nplace={place}\ncard={card.code}\nsalt={salt.hex()}\n"
    return hashlib.sha256(b"\x00" + text.encode()).digest()


def leaves(cards: Iterable[Card], salted: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the leaves of all cards of a shoe."""
    return tuple(leaf(place, card, salt) for place, (card, salt) in enumerate(zip(cards, salted, strict=True)))


def stored(hashes: bytes) -> tuple[bytes, ...]:
    """Return leaves that are stored as one string."""
    return tuple(hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES))


def root(of: Sequence[bytes]) -> bytes:
    """Return the root of at least one leaf."""
    if len(of) == 1:
        return of[0]
    left = _left(len(of))
    return _node(root(of[:left]), root(of[left:]))


def path(of: Sequence[bytes], place: int) -> tuple[bytes, ...]:
    """Return the hashes that lead from a leaf to the root, the nearest first."""
    if len(of) == 1:
        return ()
    left = _left(len(of))
    if place < left:
        return (*path(of[:left], place), root(of[left:]))
    return (*path(of[left:], place - left), root(of[:left]))


def climb(place: int, size: int, start: bytes, way: Sequence[bytes]) -> bytes | None:
    """Return the root to which a path leads from the leaf at *place* of *size*; None if it has another length."""
    if size == 1:
        return start if not way else None
    if not way:
        return None
    left = _left(size)
    if place < left:
        below = climb(place, left, start, way[:-1])
        return below and _node(below, way[-1])
    below = climb(place - left, size - left, start, way[:-1])
    return below and _node(way[-1], below)


def _left(size: int) -> int:
    """Return the largest power of two below *size*."""
    power: int = 1 << (size - 1).bit_length() - 1
    return power


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
