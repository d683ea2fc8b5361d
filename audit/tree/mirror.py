"""The log as others mirror it, piece by piece (C2SP tlog-tiles). It ends where the last signed tree does: what none
covers could be held against nothing.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from audit import log, tree
from audit.models import Checkpoint
from audit.sealing import checkpoints
from audit.tree.tiles import StoredTiles
from audit.verification import export
from audit.verification.verify import HASH, WIDTH, tile_path

HIGHEST: Final = 63  # level that C2SP knows
PATH: Final = re.compile(r"((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)


class NotThere(Exception):
    """No signed tree has it, or it has no such name."""


@dataclass(frozen=True)
class Piece:
    """A tile, or the entries below one: its number, and how many of its up to 256 are meant."""

    number: int
    width: int

    @classmethod
    def of(cls, path: str) -> "Piece":
        """Read what stands behind the level in an address: ``x001/067`` or ``x001/067.p/3``. Raises NotThere."""
        found = PATH.fullmatch(path)
        if found is None:
            raise NotThere(path)
        digits, width = found[1].replace("x", "").replace("/", ""), int(found[2] or WIDTH)
        piece = cls(int(digits), width)
        if tile_path("0", piece.number, width) != f"tile/0/{path}":  # another spelling of the same
            raise NotThere(path)
        return piece

    def demand_within(self, hashes: int) -> None:
        """Demand that a level of so many hashes has it. Raises NotThere."""
        if self.number * WIDTH + self.width > hashes:
            raise NotThere(f"{self.number}.p/{self.width}")


def last() -> Checkpoint:
    """Return the last checkpoint. Raises NotThere where nothing is signed."""
    found = checkpoints.last()
    if found is None:
        raise NotThere("checkpoint")
    return found


def tile(level: int, path: str) -> bytes:
    """Return the hashes of a tile. Raises NotThere."""
    piece = Piece.of(path)
    if level > HIGHEST:
        raise NotThere(str(level))
    piece.demand_within(checkpoints.size() >> tree.HEIGHT * level)
    hashes = StoredTiles().read(level, piece.number)[: piece.width * HASH]
    if len(hashes) < piece.width * HASH:
        raise NotThere(tile_path(level, piece.number, piece.width))
    return hashes


@transaction.atomic
def entries(path: str, *, by: str) -> bytes:
    """Return the events below a tile of level 0, each after its length in two bytes. That *by* has them is on record,
    as with any other export. Raises NotThere.
    """
    piece = Piece.of(path)
    size = checkpoints.size()
    piece.demand_within(size)
    first = piece.number * WIDTH
    end = first + piece.width
    data: dict[str, log.Json] = {"first": first, "end": end, "size": size, "personal": False}
    log.record(export.EXPORTED, by=by, on="log", data=data)
    return export.bundle(first, end)


def consistency(old: int, size: int) -> list[str]:
    """Return the hashes, in base64, that show that the tree of *size* leaves begins with that of *old*. Raises NotThere
    where no signed tree has so many, or *old* are more; Unproven where tiles lack hashes.
    """
    if not old <= size <= checkpoints.size():
        raise NotThere(str(size))
    return [b64encode(each).decode() for each in tree.consistency_proof(StoredTiles(), old, size)]
