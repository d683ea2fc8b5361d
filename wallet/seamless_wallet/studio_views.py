"""Player API for studios' games: list studios and open game sessions."""

from typing import Any, ClassVar, cast
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from players.api import schema
from players.api.paging import page
from players.api.problems import Problem
from players.api.reading import Strict, body_of
from players.api.schema import example, page_of
from players.api.views import PlayerApiView
from players.models import Scope
from wallet.models import Mode, Partner, PartnerKind
from wallet.seamless_wallet import sessions


class StudioSchema(serializers.Serializer[Any]):
    """A game studio whose games are played with your balance here."""

    code = serializers.CharField()
    name = serializers.CharField()
    address = serializers.URLField(help_text="where its games begin")


@example(mode="real")
class SessionBody(Strict):
    """Real or free money."""

    mode = serializers.ChoiceField(choices=("real", "free"))


@example(
    player="8Jt0cH3mQ2aXw1yV",
    session="kQ7ZrVn0sB4tLw9eXy2mHc5dGf8aJu1p",
    ends_at="2026-11-25T00:00:00Z",
    address="https://games.example/",
)
class GameSessionSchema(serializers.Serializer[Any]):
    """A new game session with the studio."""

    player = serializers.CharField(help_text="what the studio calls you: another one at each studio")
    session = serializers.CharField(help_text="lets the studio take your bets; told this once")
    ends_at = serializers.DateTimeField()
    address = serializers.URLField(help_text="where the studio’s games begin")


class Studios(PlayerApiView):
    """Studios with games for this house."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="studios", responses=page_of(StudioSchema))
    def get(self, request: Request) -> Response:
        """Return the studios whose games can be played with your balance, by name."""
        return Response(page(list(StudioSchema(sessions.studios(), many=True).data), None))


class GameSessions(PlayerApiView):
    """Game sessions with a studio."""

    scopes: ClassVar = {"POST": Scope.PLAY}
    has_keys: ClassVar = False  # the token is not stored with the call: a second call opens another session

    @extend_schema(
        operation_id="studio_session",
        request=SessionBody,
        responses={201: GameSessionSchema} | schema.refusals("barred", "house-stopped"),
    )
    def post(self, request: Request, studio: str) -> Response:
        """Open a game session with a studio.

        It ends with your session, and after twelve hours at the latest.
        """
        asked = body_of(request, SessionBody)
        partner = get_object_or_404(Partner, code=studio, kind=PartnerKind.STUDIO, off_at=None)
        mode = Mode[asked["mode"].upper()]
        session = cast("UUID", self.session())  # a call that changes something has a session
        try:
            opened = sessions.open_session(player=self.player, studio=partner, mode=mode, session=session)
        except sessions.CannotOpen as error:
            raise Problem("barred", str(error)) from error
        except sessions.HouseStopped as error:
            raise Problem("house-stopped") from error
        answer = {"player": opened.player, "session": opened.token, "ends_at": opened.ends_at}
        return Response(GameSessionSchema(answer | {"address": partner.address}).data, status=201)
