"""Endpoints of the seamless wallet: for studios, and for players who start a studio's game."""

from collections.abc import Callable
from typing import Any, ClassVar, Final, cast
from uuid import UUID

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from players.api import schema
from players.api.problems import MALFORMED, MEDIA, METHOD, TOO_OFTEN, FieldError, Problem
from players.api.reading import Strict, body_of, page
from players.api.schema import example, page_of
from players.api.views import PlayerApiView, demand_pace_of_partner, demand_pace_of_stranger
from players.models import Scope
from wallet.models import Mode, Partner, PartnerKind
from wallet.seamless_wallet import host, messages, partners, signing
from wallet.seamless_wallet.messages import BAD_SIGNATURE, OUTSIDE_WINDOW

DO: Final[dict[str, Callable[[Partner, Any], messages.Message]]] = {
    "balance": host.balance,
    "bet": host.bet,
    "win": host.win,
    "rollback": host.rollback,
    "bet-and-win": host.bet_and_win,
}


@csrf_exempt
def wallet_call(request: HttpRequest, operation: str) -> HttpResponseBase:
    """Execute a studio's request and respond as docs/seamless.md says.

    The signature authenticates, not a cookie.
    """
    try:
        return HttpResponse(_answer(request, operation).body(), content_type="application/json")
    except Problem as problem:
        return problem.plain()
    except Throttled as error:
        return Problem(TOO_OFTEN, headers={"Retry-After": str(vars(error)["wait"])}).plain()


def _answer(request: HttpRequest, operation: str) -> messages.Message:
    if request.method != "POST":
        raise Problem(METHOD, headers={"Allow": "POST"})
    if request.content_type != "application/json" or not _is_utf_8(request):
        raise Problem(MEDIA)
    partner = caller(request, PartnerKind.STUDIO)
    try:
        return DO[operation](partner, messages.read(messages.OPERATIONS[operation], request.body))
    except messages.Malformed as error:
        raise malformed(error) from error
    except host.Refused as refusal:
        raise Problem(refusal.code, refusal.detail) from refusal


def caller(request: HttpRequest, kind: PartnerKind) -> Partner:
    """Return the partner of this kind that signed the request.

    Raises Problem, or Throttled above the rate limit.
    """
    if request.META.get("QUERY_STRING"):
        raise Problem(BAD_SIGNATURE)  # the signature does not cover a query
    method, path, body = str(request.method), request.path, request.body
    try:
        partner = signing.caller(kind, request.headers, method=method, path=path, body=body)
    except signing.NotSigned as error:
        demand_pace_of_stranger(str(get_adapter().get_client_ip(request)))
        raise Problem(BAD_SIGNATURE) from error
    except signing.OutsideWindow as error:
        raise Problem(OUTSIDE_WINDOW, now=error.now) from error
    demand_pace_of_partner(str(partner), partner.per_minute)
    return partner


def _is_utf_8(request: HttpRequest) -> bool:
    said: dict[str, str] = request.content_params or {}
    return said.get("charset", "utf-8").lower() == "utf-8"


def malformed(error: messages.Malformed) -> Problem:
    """Return a malformed message as an API problem."""
    errors = [FieldError(where, "invalid", what) for where, what in error.errors.items()]
    return Problem(MALFORMED, errors=errors)


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
        return Response(page(list(StudioSchema(partners.studios(), many=True).data), None))


class GameSessions(PlayerApiView):
    """Game sessions with a studio."""

    scopes: ClassVar = {"POST": Scope.PLAY}
    has_keys: ClassVar = False  # the token is not stored with the call: a second call opens another session

    @extend_schema(
        operation_id="studio_session",
        request=SessionBody,
        responses={201: GameSessionSchema} | schema.refusals("not-eligible", "house-stopped"),
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
            opened = partners.open_session(player=self.player, studio=partner, mode=mode, session=session)
        except partners.CannotOpen as error:
            raise Problem("not-eligible", str(error)) from error
        except partners.HouseStopped as error:
            raise Problem("house-stopped") from error
        answer = {"player": opened.player, "session": opened.token, "ends_at": opened.ends_at}
        return Response(GameSessionSchema(answer | {"address": partner.address}).data, status=201)
