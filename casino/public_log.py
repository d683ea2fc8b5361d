"""The public event log under ``/log/``, a C2SP tlog-tiles log that anybody reads without a token, and the
page about it.

Its files are named as C2SP tlog-tiles names them: checkpoint, tiles of hashes, bundles of entries. Nothing goes beyond
the last signed checkpoint, so a reader can prove all of it. Files never change once they are there, except the
checkpoint, so caches may keep them: full tiles for ever, tiles that still grow for a day. The entries hold no personal
values.
"""

import re
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from audit import tree
from audit.sealing import alarms, checkpoints, witnesses
from audit.verification import export
from audit.verification.checking import StoredTiles
from audit.verification.verify import HASH, WIDTH, tile_path
from casino.middleware import keep_for_everybody
from players.access import made_by_the_page
from players.rates import at_the_pace_of_mirrors

HIGHEST: Final = 63  # highest level in C2SP
ENTRIES: Final = "entries"  # takes the place of the level in the name of a bundle of entries
LEVEL: Final = re.compile(r"0|[1-9][0-9]?", re.ASCII)
PATH: Final = re.compile(r"((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)


class NotThere(Exception):
    """The file is in no signed tree, or its name is invalid."""


@dataclass(frozen=True)
class Tile:
    """A tile: its number, and how many of up to 256 hashes or entries are requested."""

    number: int
    width: int

    @classmethod
    def of(cls, path: str) -> "Tile":
        """Parse the part of a name after the level: ``x001/067`` or ``x001/067.p/3``. Raises NotThere."""
        found = PATH.fullmatch(path)
        if found is None:
            raise NotThere(path)
        digits, width = found[1].replace("x", "").replace("/", ""), int(found[2] or WIDTH)
        tile = cls(int(digits), width)
        if tile_path("0", tile.number, width) != f"tile/0/{path}":  # not the canonical spelling
            raise NotThere(path)
        return tile

    @property
    def is_full(self) -> bool:
        """True if the tile has the full width."""
        return self.width == WIDTH

    def demand_within(self, hashes: int) -> None:
        """Check that a level with this number of hashes contains the tile. Raises NotThere."""
        if self.number * WIDTH + self.width > hashes:
            raise NotThere(f"{self.number}.p/{self.width}")


def checkpoint() -> str:
    """Return the note that the public log shows, with cosignatures (`witnesses.published`). Raises
    NotThere where nothing is signed.
    """
    found = witnesses.published()
    if found is None:
        raise NotThere("checkpoint")
    return found[1]


def content(level: str, tile: Tile) -> bytes:
    """Return the hashes of a tile of a level, or the entries below a tile of level 0, each preceded by
    its length, where the level is `ENTRIES`. Raises NotThere.
    """
    if level == ENTRIES:
        tile.demand_within(checkpoints.size())
        first = tile.number * WIDTH
        return export.bundle(first, first + tile.width)
    if not LEVEL.fullmatch(level) or int(level) > HIGHEST:
        raise NotThere(level)
    tile.demand_within(checkpoints.size() >> tree.HEIGHT * int(level))
    hashes = StoredTiles().read(int(level), tile.number)[: tile.width * HASH]
    if len(hashes) < tile.width * HASH:
        raise NotThere(tile_path(level, tile.number, tile.width))
    return hashes


COMMAND: Final = "python3 mirror_log.py {0} FOLDER --keys KEYS"
NOTE: Final = "text/plain; charset=utf-8"
DATA: Final = "application/octet-stream"
FULL: Final = "public, max-age=31536000, immutable"
PARTIAL: Final = "public, max-age=86400, immutable"
CHECKPOINT: Final = "public, max-age=5"  # a new one comes every five seconds


@made_by_the_page
@require_safe
@at_the_pace_of_mirrors
def log_checkpoint(request: HttpRequest) -> HttpResponse:
    """Send the last checkpoint, with the signatures of the log and of its witnesses."""
    try:
        note = checkpoint()
    except NotThere as error:
        raise Http404 from error
    return keep_for_everybody(HttpResponse(note, content_type=NOTE), CHECKPOINT)


@made_by_the_page
@require_safe
@at_the_pace_of_mirrors
def log_tile(request: HttpRequest, level: str, tile: str) -> HttpResponse:
    """Send a tile of hashes, or the entries below one, no wider than the last checkpoint allows."""
    try:
        asked = Tile.of(tile)
        found = content(level, asked)
    except NotThere as error:
        raise Http404 from error
    return keep_for_everybody(HttpResponse(found, content_type=DATA), FULL if asked.is_full else PARTIAL)


@require_safe
def public_log(request: HttpRequest) -> HttpResponse:
    """Show the last checkpoint and its witnesses, and how to keep a copy of the log."""
    signed, note = witnesses.published() or (None, "")
    house = request.build_absolute_uri("/").rstrip("/")
    origin, _size, root = note.split("\n")[:3] if note else ("", "", "")
    context = {
        "signed": signed,
        "note": note,
        "origin": origin,
        "root": root,
        "witnesses": witnesses.records(),
        "quorum": settings.AUDIT_WITNESS_QUORUM,
        "is_unwitnessed": alarms.begun(alarms.UNWITNESSED) is not None,
        "command": COMMAND.format(house),
        "address": house + reverse("log_checkpoint").removesuffix("checkpoint"),
    }
    return render(request, "log.html", context)
