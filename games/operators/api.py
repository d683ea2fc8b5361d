"""Where operators announce their players: one address that takes signed requests (docs/seamless.md, "Visits")."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import ClassVar, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import Throttled

from games.betting import eligibility
from games.models import Table
from games.solo import operator_money
from players.api.problems import MEDIA, METHOD, TOO_OFTEN, Problem, register
from players.registration import CurrencyNotOffered, TooYoung
from wallet.models import PartnerKind
from wallet.operator_wallet import launches
from wallet.seamless_wallet import messages
from wallet.seamless_wallet.views import caller, malformed

FORBIDDEN, CONFLICT = HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT
OFF: Final = "partner-off"  # as the wallet's own addresses say it
NO_TABLE: Final = register("table-unknown", HTTPStatus.NOT_FOUND, _("No such table is played for their money there"))
NOT_REMOTELY: Final = register("table-not-remote", CONFLICT, _("The table is not for players of operators"))
REFUSED: Final = {
    TooYoung: register("player-too-young", FORBIDDEN, _("The player is too young to play there")),
    CurrencyNotOffered: register("currency-not-offered", CONFLICT, _("The house does not offer this currency there")),
    launches.PlayerChanged: register(
        "player-changed", CONFLICT, _("The player came with another currency, country or date of birth before")
    ),
}
Check = Callable[[messages.Json], str | None]


def _one_of(names: set[str]) -> Check:
    return lambda value: None if value in names else f"is one of {', '.join(sorted(names))}"


def _like(pattern: str, what: str) -> Check:
    return lambda value: None if isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) else f"is {what}"


def _day(value: messages.Json) -> str | None:
    try:
        fits = isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        fits = False
    return None if fits else "is a day: 1990-12-31"


@dataclass(frozen=True)
class LaunchAsked(messages.Message):
    """Who comes, and to which table."""

    operation: ClassVar[str] = "launch"
    checks: ClassVar = {
        "jurisdiction": _like("[A-Z]{2}", "a country of two capital letters"),
        "language": _one_of(set(dict(settings.LANGUAGES))),
        "birth_date": _day,
        "table": _like("[-a-zA-Z0-9_]{1,50}", "the slug of a table"),
        "mode": _one_of({"real"}),
    }

    player: str
    session: str
    currency: str
    jurisdiction: str
    language: str
    birth_date: str
    table: str
    mode: str


@csrf_exempt
def operator_launch(request: HttpRequest) -> HttpResponseBase:
    """Answer an operator with the address that its player's browser is to open, once and within a minute."""
    try:
        return _launch(request)
    except Problem as problem:
        return problem.plain()
    except Throttled as error:
        return Problem(TOO_OFTEN, headers={"Retry-After": str(vars(error)["wait"])}).plain()


def _launch(request: HttpRequest) -> JsonResponse:
    if request.method != "POST":
        raise Problem(METHOD, headers={"Allow": "POST"})
    if request.content_type != "application/json":
        raise Problem(MEDIA)
    partner = caller(request, PartnerKind.OPERATOR)
    if partner.off_at is not None:
        raise Problem(OFF)
    try:
        asked = messages.read(LaunchAsked, request.body)
    except messages.Malformed as error:
        raise malformed(error) from error
    _demand_table(asked)
    visit = launches.Visit(
        player=asked.player,
        session=asked.session,
        currency=asked.currency,
        jurisdiction=asked.jurisdiction,
        language=asked.language,
        birth_date=date.fromisoformat(asked.birth_date),
        game=asked.table,
    )
    try:
        announced = launches.announce(partner, visit)
    except tuple(REFUSED) as refusal:
        raise Problem(REFUSED[type(refusal)]) from refusal
    with override(asked.language):
        address = request.build_absolute_uri(reverse("remote_enter", args=[announced.code]))
    return JsonResponse({"address": address, "ends_at": announced.ends_at.isoformat()})


def _demand_table(asked: LaunchAsked) -> None:
    table = Table.objects.select_related("version").filter(slug=asked.table).first()
    if table is None or not operator_money.is_open_to(table, asked.jurisdiction, asked.currency):
        raise Problem(NO_TABLE)
    if not eligibility.is_possible(table):
        raise Problem(NOT_REMOTELY)
