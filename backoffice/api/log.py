"""Event log for mirrors: a C2SP tlog-tiles log under ``log/``.

Further views serve what tlog-tiles does not define: earlier checkpoints, consistency proofs and the
keys.
"""

from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.models import Checkpoint
from audit.sealing import checkpoints, signing
from audit.tree import mirror
from audit.verification.verify import Unproven
from backoffice.api.access_log import SEE_LOG
from backoffice.api.events import END, NOT_SEALED
from players.api.paging import Numbered, numbered, page
from players.api.problems import NOT_FOUND, Problem
from players.api.reading import Strict, query_of
from players.api.schema import Link, Linked, page_of, refusals
from players.api.views import StaffApiView
from players.models import Scope

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
            return HttpResponse(mirror.last().note, content_type=NOTE)
        except mirror.NotThere as error:
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
        return Response({"origin": signing.origin(known), "keys": [key.vkey for key in known]})


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
            return Response(asked | {"hashes": mirror.consistency(**asked)})
        except (mirror.NotThere, Unproven) as error:
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
            return HttpResponse(mirror.tile(level, tile), content_type=HASHES)
        except mirror.NotThere as error:
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
            return HttpResponse(mirror.entries(tile, by=str(self.staff)), content_type=HASHES)
        except mirror.NotThere as error:
            raise Problem(NOT_FOUND) from error


def _describe_checkpoint(row: Checkpoint) -> dict[str, int | datetime | str]:
    return {"size": row.size, "at": row.at, "note": row.note}
