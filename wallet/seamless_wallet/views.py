"""Endpoints for studios: five URLs that accept signed requests (docs/seamless.md)."""

from collections.abc import Callable
from typing import Any, Final

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import Throttled

from players.api.problems import MALFORMED, MEDIA, METHOD, TOO_OFTEN, FieldError, Problem
from players.api.views import demand_pace_of_partner, demand_pace_of_stranger
from wallet.models import Partner, PartnerKind
from wallet.seamless_wallet import host, messages, signing
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
