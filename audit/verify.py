"""What proves the event log, for somebody who trusts nobody: hashes, proofs and signatures, checked with nothing but
Python itself. The house uses the same functions, and every export carries this very file.

Hashes and proofs are those of RFC 6962, section 2.1; tiles, checkpoints and signatures those of C2SP: tlog-tiles,
tlog-checkpoint, signed-note, tlog-cosignature. Leaves are counted from 0.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HASH = 32  # bytes
EMPTY = hashlib.sha256(b"").digest()
"""The root of a tree without leaves."""


class Unproven(Exception):
    """Something does not follow from what it should follow from; the message says what, for whoever audits."""


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of an entry of the log as a leaf."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree with these leaves' hashes, `EMPTY` where there are none."""
    if not hashes:
        return EMPTY
    level = list(hashes)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [node_hash(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)] + odd
    return level[0]


def demand_included(*, leaf: int, size: int, hashed: bytes, proof: Sequence[bytes], root: bytes) -> None:
    """Demand that a leaf with this hash is at this place of the tree with *size* leaves and that root (RFC 9162,
    2.1.3.2). Raises Unproven.
    """
    if not 0 <= leaf < size:
        raise Unproven(f"there is no leaf {leaf} in a tree of {size}")
    at, last, found = leaf, size - 1, hashed
    for step in proof:
        if last == 0:
            raise Unproven(f"the proof of leaf {leaf} is too long")
        if at % 2 or at == last:
            found = node_hash(step, found)
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, step)
        at, last = at >> 1, last >> 1
    if last != 0 or found != root:
        raise Unproven(f"leaf {leaf} is not proven by the tree of {size} leaves")


def demand_extended(*, old: int, size: int, proof: Sequence[bytes], old_root: bytes, root: bytes) -> None:
    """Demand that the tree with *size* leaves begins with the one with *old* leaves (RFC 9162, 2.1.4.2). Raises
    Unproven.
    """
    if old > size:
        raise Unproven(f"a tree of {size} leaves does not extend one of {old}")
    if old in (0, size):
        if proof or (old == size and old_root != root):
            raise Unproven(f"two different trees of {size} leaves" if old else "an empty tree needs no proof")
        return
    steps = list(proof) if old & (old - 1) else [old_root, *proof]
    if not steps:
        raise Unproven(f"nothing shows that the tree of {size} leaves extends the one of {old}")
    at, last = old - 1, size - 1
    while at % 2:
        at, last = at >> 1, last >> 1
    before = after = steps[0]
    for step in steps[1:]:
        if last == 0:
            raise Unproven(f"the proof from {old} to {size} leaves is too long")
        if at % 2 or at == last:
            before, after = node_hash(step, before), node_hash(step, after)
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, step)
        at, last = at >> 1, last >> 1
    if last != 0 or before != old_root or after != root:
        raise Unproven(f"the tree of {size} leaves does not extend the one of {old}")


@dataclass(frozen=True)
class Tree:
    """What a checkpoint speaks of (C2SP tlog-checkpoint)."""

    origin: str
    size: int
    root: bytes

    @classmethod
    def of(cls, body: str) -> Tree:
        """Read the text of a checkpoint. Raises Unproven."""
        lines = body.split("\n")
        if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
            raise Unproven("a checkpoint has an origin, a size and a root, a line each")
        origin, size, root = lines[:3]
        if not size.isdecimal() or str(int(size)) != size:
            raise Unproven(f"{size!r} is no number of leaves")
        return cls(origin, int(size), decoded(root, HASH))

    @property
    def body(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def decoded(text: str, length: int | None = None) -> bytes:
    """Read base64, of so many bytes where a length is given. Raises Unproven."""
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Unproven(f"{text[:80]!r} is no base64") from error
    if length is not None and len(value) != length:
        raise Unproven(f"{text[:80]!r} is not {length} bytes")
    return value


def hashes_of(lines: Iterable[str]) -> list[bytes]:
    """Read a proof, a hash in base64 on each line. Raises Unproven."""
    return [decoded(line, HASH) for line in lines]
