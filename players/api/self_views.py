"""Player API: the player's own account and play sessions."""

from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from players.api.calls import once
from players.api.reading import Strict, body_of
from players.api.schema import example
from players.api.views import ApiView, PlayerApiView
from players.login.current_user import actor_of
from players.models import ApiToken, Scope
from players.protection import play_sessions


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


CONTINUE, STOP = "continue", "stop"


@example(answer="continue")
class AnswerBody(Strict):
    """The answer to a reality check."""

    answer = serializers.ChoiceField(
        choices=(CONTINUE, STOP), help_text="noted either way: what keeps you from playing is a pause"
    )


class TotalsSchema(serializers.Serializer[Any]):
    """Totals of one mode, in whole minor units of the player's currency."""

    staked = serializers.IntegerField()
    paid = serializers.IntegerField(help_text="what came back, stakes included")
    net = serializers.IntegerField(help_text="below zero where more was staked")


class PlaySessionSchema(serializers.Serializer[Any]):
    """Play in the session of this token."""

    session = serializers.UUIDField()
    began = serializers.DateTimeField()
    now = serializers.DateTimeField(help_text="by the house's clock")
    rounds = serializers.IntegerField()
    real = TotalsSchema()
    free = TotalsSchema()


class CheckSchema(serializers.Serializer[Any]):
    """Reality check: how often the player is asked to look at time and money, and whether a check is due."""

    minutes = serializers.IntegerField(help_text="between two checks")
    is_due = serializers.BooleanField(help_text="nothing is dealt in this session before it is answered")
    currency = serializers.CharField(help_text="ISO 4217")
    play_session = PlaySessionSchema(
        allow_null=True, help_text="null where the token has no session: its first write begins one"
    )


class Check(PlayerApiView):
    """The reality check."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.PLAY}

    @extend_schema(operation_id="reality_check", responses=CheckSchema)
    def get(self, request: Request) -> Response:
        """Read what you have played in this token's session, and whether a reality check waits."""
        return Response(self.check())

    @extend_schema(operation_id="reality_check_answer", request=AnswerBody, responses=CheckSchema)
    def post(self, request: Request) -> Response:
        """Answer the reality check that waits; where none does, nothing happens."""
        goes_on, player, session = body_of(request, AnswerBody)["answer"] == CONTINUE, self.player, self.session()

        def answer() -> Response:
            if session:
                play_sessions.answer_check(player=player, session=session, goes_on=goes_on)
            return Response(self.check())

        return once(request, answer)

    def check(self) -> dict[str, Any]:
        """Return the state of the reality check."""
        player, session = self.player, self.session()
        seen = play_sessions.read_session(player, session) if session else None
        answer = {"minutes": play_sessions.interval(player), "currency": player.currency}
        if seen is None:
            return answer | {"is_due": False, "play_session": None}
        totals = {
            "real": {"staked": seen.staked_real, "paid": seen.paid_real, "net": seen.net_real},
            "free": {"staked": seen.staked_free, "paid": seen.paid_free, "net": seen.net_free},
        }
        played = {"session": session, "began": seen.began, "now": seen.now, "rounds": seen.rounds} | totals
        return answer | {"is_due": seen.is_check_due, "play_session": played}


urlpatterns = [
    path("self/", Self.as_view(), name="self"),
    path("protection/check/", Check.as_view(), name="reality_check"),
]
