"""Event log for mirrors: a C2SP tlog-tiles log under ``log/``.

Further views serve what tlog-tiles does not define: earlier checkpoints, consistency proofs and the
keys.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import log, tree
from audit.models import Checkpoint
from audit.sealing import checkpoints
from audit.verification import export
from audit.verification.checking import StoredTiles, origin
from audit.verification.verify import HASH, WIDTH, Unproven, tile_path
from backoffice.api.events import END, NOT_SEALED, SEE_LOG
from players.api.paging import Numbered, numbered, page
from players.api.problems import NOT_FOUND, Problem
from players.api.reading import Strict, query_of
from players.api.schema import Link, Linked, page_of, refusals
from players.api.views import StaffApiView
from players.models import Scope

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


def tile_bytes(level: int, path: str) -> bytes:
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


NOTE: Final = "text/plain; charset=utf-8"
SIZES: Final = {"old": "$response.body#/items/0/size", "size": "$response.body#/items/0/size"}
HASHES: Final = "application/octet-stream"


class CheckpointSchema(serializers.Serializer[Any]):
    """A signed checkpoint of the tree."""

    size = serializers.IntegerField(help_text="how many leaves it has")
    at = serializers.DateTimeField(help_text="when it was signed, by the signer’s clock")
    note = serializers.CharField(help_text="the signed note (C2SP tlog-checkpoint)")


class KeysSchema(serializers.Serializer[Any]):
    """The keys that the house trusts. An auditor must obtain the keys from another source."""

    origin = serializers.CharField(help_text="what the log is called")
    keys = serializers.ListField(child=serializers.CharField(), help_text="C2SP signed-note, verifier keys")


class ConsistencyAsked(Strict):
    """Query for a consistency proof between two trees."""

    old = serializers.IntegerField(min_value=0, max_value=END, help_text="leaves of the earlier tree")
    size = serializers.IntegerField(min_value=0, max_value=END, help_text="leaves of the later tree")


class ConsistencySchema(ConsistencyAsked):
    """Proof that the later tree begins with the earlier one (RFC 6962, 2.1.2)."""

    hashes = serializers.ListField(child=serializers.CharField(), help_text="each 32 bytes, in base64")


class OfTheLog(StaffApiView):
    """Base view of checkpoints, keys, proofs and tiles."""

    scopes = {"GET": Scope.CHECKPOINTS}
    permissions = (SEE_LOG,)


class LastCheckpoint(OfTheLog):
    """The last signed checkpoint."""

    @extend_schema(
        operation_id="log_checkpoint",
        responses={(200, NOTE): OpenApiResponse(OpenApiTypes.STR, "C2SP tlog-checkpoint"), **refusals(NOT_SEALED)},
    )
    def get(self, request: Request) -> HttpResponse:
        """Read the last signed checkpoint."""
        try:
            return HttpResponse(last().note, content_type=NOTE)
        except NotThere as error:
            raise Problem(NOT_SEALED) from error


class Checkpoints(OfTheLog):
    """All signed checkpoints."""

    @extend_schema(
        operation_id="log_checkpoints",
        parameters=[Numbered],
        responses={200: Linked(page_of(CheckpointSchema), consistency=Link("log_consistency", SIZES))},
    )
    def get(self, request: Request) -> Response:
        """List signed checkpoints, the largest first."""
        asked = query_of(request, Numbered)
        rows = checkpoints.latest(asked["limit"] + 1, below=asked.get("cursor"))
        shown, following = numbered(rows, asked["limit"], lambda row: row.size)
        return Response(page([_describe_checkpoint(row) for row in shown], following))


class Keys(OfTheLog):
    """The keys of the log."""

    @extend_schema(operation_id="log_keys", responses=KeysSchema)
    def get(self, request: Request) -> Response:
        """Read the keys that the house trusts."""
        known = checkpoints.house_keys()
        return Response({"origin": origin(known), "keys": [key.vkey for key in known]})


class Consistency(OfTheLog):
    """Consistency proof: the log was only appended to."""

    @extend_schema(
        operation_id="log_consistency",
        parameters=[ConsistencyAsked],
        responses={200: ConsistencySchema, **refusals(NOT_SEALED)},
    )
    def get(self, request: Request) -> Response:
        """Prove that a later tree begins with an earlier one."""
        asked = query_of(request, ConsistencyAsked)
        try:
            return Response(asked | {"hashes": consistency(**asked)})
        except (NotThere, Unproven) as error:
            raise Problem(NOT_SEALED) from error


class LogTile(OfTheLog):
    """A tile of hashes."""

    @extend_schema(operation_id="log_tile", responses={(200, HASHES): OpenApiTypes.BINARY})
    def get(self, request: Request, level: int, tile: str) -> HttpResponse:
        """Read a tile of up to 256 hashes of 32 bytes each.

        The name follows C2SP tlog-tiles: x001/067, or x001/067.p/3. A tile is never wider than the
        last checkpoint allows.
        """
        try:
            return HttpResponse(tile_bytes(level, tile), content_type=HASHES)
        except NotThere as error:
            raise Problem(NOT_FOUND) from error


class LogEntries(OfTheLog):
    """The events below a tile."""

    scopes = {"GET": Scope.EVENTS}

    @extend_schema(operation_id="log_entries", responses={(200, HASHES): OpenApiTypes.BINARY})
    def get(self, request: Request, tile: str) -> HttpResponse:
        """Read the events below a tile of level 0.

        Each event follows its length in two bytes. The export is recorded in the event log
        (log.exported).
        """
        try:
            return HttpResponse(entries(tile, by=str(self.staff)), content_type=HASHES)
        except NotThere as error:
            raise Problem(NOT_FOUND) from error


def _describe_checkpoint(row: Checkpoint) -> dict[str, int | datetime | str]:
    return {"size": row.size, "at": row.at, "note": row.note}
