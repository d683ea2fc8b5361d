"""The log for mirrors, piece by piece (C2SP tlog-tiles). It ends with the last signed tree, because
later leaves could not be verified.
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

HIGHEST: Final = 63  # highest level in C2SP
PATH: Final = re.compile(r"((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)


class NotThere(Exception):
    """The piece is in no signed tree, or its name is invalid."""


@dataclass(frozen=True)
class Piece:
    """A tile, or its entries: its number, and how many of up to 256 are requested."""

    number: int
    width: int

    @classmethod
    def of(cls, path: str) -> "Piece":
        """Parse the part of a path after the level: ``x001/067`` or ``x001/067.p/3``. Raises NotThere."""
        found = PATH.fullmatch(path)
        if found is None:
            raise NotThere(path)
        digits, width = found[1].replace("x", "").replace("/", ""), int(found[2] or WIDTH)
        piece = cls(int(digits), width)
        if tile_path("0", piece.number, width) != f"tile/0/{path}":  # not the canonical spelling
            raise NotThere(path)
        return piece

    def demand_within(self, hashes: int) -> None:
        """Check that a level with this number of hashes contains the piece. Raises NotThere."""
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
    """Return the events below a tile of level 0, each preceded by its length in two bytes. The read
    by *by* is recorded, as for any export. Raises NotThere.
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
    """Return the base64 hashes that prove that the tree of *size* leaves starts with that of *old*.
    Raises NotThere where no signed tree has *size* leaves or *old* is larger; Unproven where tiles
    lack hashes.
    """
    if not old <= size <= checkpoints.size():
        raise NotThere(str(size))
    return [b64encode(each).decode() for each in tree.consistency_proof(StoredTiles(), old, size)]
