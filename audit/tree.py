"""The Merkle tree over the event log, computed from its tiles: roots, proofs, and the tiles that
new leaves extend.

Hashes and proofs follow RFC 6962, section 2.1, and tiles C2SP tlog-tiles: the tile ``number`` of
``level`` holds the hashes of the complete subtrees over 256 ** level leaves each, 256 per tile. A
tile may hold more hashes than a tree needs, since tiles only grow, so every earlier tree of the log
can be queried.

This module does not use the database; `audit.verification.checking.StoredTiles` reads the stored tiles.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from audit.models import Leaf
from audit.sealing import checkpoints
from audit.verification.checking import StoredTiles
from audit.verification.verify import EMPTY, HASH, Unproven, node_hash, root_of

HEIGHT: Final = 8  # how many levels of the tree one level of tiles spans
WIDTH: Final = 1 << HEIGHT  # hashes in a whole tile


class Tiles(Protocol):
    """Interface for reading tiles."""

    def read(self, level: int, number: int) -> bytes:
        """Return the hashes of a tile, concatenated; empty where there is no such tile."""


def root(tiles: Tiles, size: int) -> bytes:
    """Return the root of the tree over the first *size* leaves. Raises Unproven where tiles lack hashes."""
    return _hash(tiles, 0, size) if size else EMPTY


def inclusion_proof(tiles: Tiles, leaf: int, size: int) -> list[bytes]:
    """Return the hashes, lowest first, from a leaf (counted from 0) to the root over *size* leaves.

    Raises Unproven where there is no such leaf, or where tiles lack hashes.
    """
    if not 0 <= leaf < size:
        raise Unproven(f"there is no leaf {leaf} in a tree of {size}")
    begin, end = 0, size
    proof = []
    while end - begin > 1:
        middle = begin + _left(end - begin)
        if leaf < middle:
            proof.append(_hash(tiles, middle, end))
            end = middle
        else:
            proof.append(_hash(tiles, begin, middle))
            begin = middle
    return proof[::-1]


def consistency_proof(tiles: Tiles, old: int, size: int) -> list[bytes]:
    """Return the hashes that prove that the tree over *size* leaves starts with the one over *old*;
    empty where no proof is needed because *old* is 0 or *size*.

    Raises Unproven where *old* is not the size of an earlier tree, or where tiles lack hashes.
    """
    if not 0 <= old <= size:
        raise Unproven(f"a tree of {size} leaves does not extend one of {old}")
    if old in (0, size):
        return []
    begin, end = 0, size
    proof = []
    while end != old:
        middle = begin + _left(end - begin)
        if old <= middle:
            proof.append(_hash(tiles, middle, end))
            end = middle
        else:
            proof.append(_hash(tiles, begin, middle))
            begin = middle
    if begin:  # where it is 0, the first step is the old root, which the verifier has
        proof.append(_hash(tiles, begin, end))
    return proof[::-1]


def extend(tiles: Tiles, size: int, leaf_hashes: Sequence[bytes]) -> dict[tuple[int, int], bytes]:
    """Return the tiles, by level and number, that change when these leaves follow the first *size*,
    with their full new content. Raises Unproven where tiles lack hashes.
    """
    grown = {}
    level, before, hashes = 0, size, list(leaf_hashes)
    while hashes:
        number, held = divmod(before, WIDTH)
        row = [*_stored(tiles, level, number, 0, held), *hashes]
        parts = [row[at : at + WIDTH] for at in range(0, len(row), WIDTH)]
        for place, part in enumerate(parts, start=number):
            grown[level, place] = b"".join(part)
        level, before, hashes = level + 1, number, [root_of(part) for part in parts if len(part) == WIDTH]
    return grown


def subtree_hashes(tiles: Tiles, begin: int, end: int) -> list[bytes]:
    """Return the hashes of the complete subtrees that make up the leaves *begin* up to and
    excluding *end*, largest first. *begin* is a multiple of the largest one's size. Raises Unproven
    where tiles lack hashes.
    """
    found = []
    while begin < end:
        height = (end - begin).bit_length() - 1
        found.append(_complete(tiles, height, begin >> height))
        begin += 1 << height
    return found


def _hash(tiles: Tiles, begin: int, end: int) -> bytes:
    """Return the root over the leaves *begin* up to and excluding *end*."""
    *larger, found = subtree_hashes(tiles, begin, end)
    for each in reversed(larger):
        found = node_hash(each, found)
    return found


def _complete(tiles: Tiles, height: int, place: int) -> bytes:
    """Return the hash of the complete subtree of 2 ** height leaves at index *place* among those of its size."""
    level, above = divmod(height, HEIGHT)
    number, first = divmod(place << above, WIDTH)
    return root_of(_stored(tiles, level, number, first, 1 << above))


def _stored(tiles: Tiles, level: int, number: int, first: int, count: int) -> list[bytes]:
    if not count:
        return []
    hashes = tiles.read(level, number)
    if len(hashes) < (first + count) * HASH:
        raise Unproven(f"tile {number} of level {level} has {len(hashes) // HASH} hashes, not {first + count}")
    return [hashes[at * HASH : (at + 1) * HASH] for at in range(first, first + count)]


def _left(leaves: int) -> int:
    """Return the largest power of two below *leaves*: the size of the left subtree."""
    return 1 << (leaves - 1).bit_length() - 1


class NotSealed(Exception):
    """No signed tree contains the event yet, or it does not exist."""


def sealed(events: Iterable[int]) -> set[int]:
    """Return which of these event IDs are leaves of the last signed tree."""
    signed = checkpoints.size()
    return set(Leaf.objects.filter(event__in=events, leaf__lt=signed).values_list("event", flat=True))


def proof_of(event_id: int) -> str:
    """Return the proof that the entry of an event is a leaf of the last signed tree, with its
    checkpoint and, as extra data, the event's salt. Raises NotSealed; Unproven where tiles lack
    hashes.
    """
    found = Leaf.objects.filter(event=event_id).values_list("leaf", "event__salt").first()
    last = checkpoints.last()
    if found is None or last is None:
        raise NotSealed(f"event {event_id} is in no signed tree")
    leaf, salt = found
    return proof_text(leaf, last.size, last.note, bytes(salt or b""))


def proof_text(leaf: int, size: int, note: str, extra: bytes = b"") -> str:
    """Return the proof that a leaf is in the tree of *size* leaves that a *note* signs (C2SP tlog-proof).

    Raises NotSealed where the tree does not have the leaf; Unproven where tiles lack hashes.
    """
    if leaf >= size:
        raise NotSealed(f"leaf {leaf} is in no signed tree")
    hashes = inclusion_proof(StoredTiles(), leaf, size)
    line = [f"extra {b64encode(extra).decode()}"] if extra else []
    lines = ["c2sp.org/tlog-proof@v1", *line, f"index {leaf}", *(b64encode(each).decode() for each in hashes)]
    return "\n".join([*lines, "", note])
