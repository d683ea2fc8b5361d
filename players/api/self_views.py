"""API endpoint that describes the calling token."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from players.api.schema import example
from players.api.views import ApiView
from players.login.current_user import actor_of
from players.models import ApiToken


@example(actor="player:17", name="My chart", scopes=["read", "play"], per_minute=600, ends_at="2026-11-24T12:00:00Z")
class SelfSchema(serializers.Serializer[Any]):
    """A token, seen by itself."""

    actor = serializers.CharField(help_text="who the token is of, as the event log calls them")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    per_minute = serializers.IntegerField()
    ends_at = serializers.DateTimeField()


class HasAToken(BasePermission):
    """Admits every valid token."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the request has a token."""
        return isinstance(request.auth, ApiToken)


class Self(ApiView):
    """The token that asks."""

    permission_classes = (HasAToken,)

    @extend_schema(operation_id="self", responses=SelfSchema)
    def get(self, request: Request) -> Response:
        """Say whose token this is, what it may do, and until when."""
        token = request.auth
        found = {name: getattr(token, name) for name in ("name", "scopes", "per_minute", "ends_at")}
        return Response(SelfSchema(found | {"actor": actor_of(request.user)}).data)
