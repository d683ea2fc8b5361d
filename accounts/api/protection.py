"""API of the pause button. It is in this app because a pause also returns money from open games."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.protection_views import give_back
from players.api.calls import once
from players.api.reading import Strict, body_of
from players.api.views import PlayerApiView
from players.models import ExclusionKind, Scope
from players.protection import eligibility, exclusions


class PauseSchema(serializers.Serializer[Any]):
    """The exclusion in force."""

    kind = serializers.ChoiceField(choices=ExclusionKind.values)
    until = serializers.DateTimeField(allow_null=True, help_text="null: for good")
    detail = serializers.CharField(help_text="a sentence, in the language asked for")


class Pause(PlayerApiView):
    """The pause button."""

    scopes: ClassVar = {"POST": Scope.PLAY}

    @extend_schema(operation_id="pause", request=None, responses=PauseSchema)
    def post(self, request: Request) -> Response:
        """Pause at once, for the hours that the law where you live says. It cannot be ended before its time; what lies
        in games goes back to your account.
        """
        body_of(request, Strict)
        player = self.player
        self.session()

        def pause() -> Response:
            exclusions.pause(player=player, by=str(player))
            give_back(player)
            longest = exclusions.in_force(player)
            assert longest is not None  # noqa: S101  (the pause has just begun)
            answer = {"kind": longest.kind, "until": longest.until, "detail": eligibility.exclusion_message(player)}
            return Response(answer)

        return once(request, pause)
