"""What stands next to the public log under ``/log/`` and C2SP tlog-tiles does not define: earlier
checkpoints, consistency proofs and the keys.
"""

from base64 import b64encode
from datetime import datetime
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import tree
from audit.models import Checkpoint
from audit.sealing import checkpoints
from audit.verification.checking import StoredTiles, origin
from audit.verification.verify import Unproven
from backoffice.api.events import END, SEE_LOG
from players.api.paging import Numbered, numbered, page
from players.api.problems import NOT_SEALED, Problem
from players.api.reading import Strict, query_of
from players.api.schema import Link, Linked, page_of, refusals
from players.api.views import StaffApiView
from players.models import Scope


class NotThere(Exception):
    """No signed tree has that size."""


def consistency(old: int, size: int) -> list[str]:
    """Return the base64 hashes that prove that the tree of *size* leaves starts with that of *old*.
    Raises NotThere where no signed tree has *size* leaves or *old* is larger; Unproven where tiles
    lack hashes.
    """
    if not old <= size <= checkpoints.size():
        raise NotThere(str(size))
    return [b64encode(each).decode() for each in tree.consistency_proof(StoredTiles(), old, size)]


SIZES: Final = {"old": "$response.body#/items/0/size", "size": "$response.body#/items/0/size"}


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
    """Base view of checkpoints, keys and proofs."""

    scopes = {"GET": Scope.CHECKPOINTS}
    permissions = (SEE_LOG,)


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


def _describe_checkpoint(row: Checkpoint) -> dict[str, int | datetime | str]:
    return {"size": row.size, "at": row.at, "note": row.note}
