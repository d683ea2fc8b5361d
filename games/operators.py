"""URLs where operators announce and send their players."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import ClassVar, Final

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_safe
from rest_framework.exceptions import Throttled

from games.betting import eligibility
from games.models import Table
from games.solo import operator_money
from games.solo.operator_money import balance_there
from games.tables.access import at_a_playable_table
from games.tables.fragments import render_fragment
from players.access import PlayerRequest, made_by_the_page, player_required
from players.account import registration
from players.account.registration import CurrencyNotOffered, TooYoung
from players.api.problems import MEDIA, METHOD, TOO_OFTEN, Problem, register
from players.login import locks
from players.login.current_user import session_of
from wallet.models import Mode, PartnerKind
from wallet.operator_wallet import operators
from wallet.seamless_wallet import messages
from wallet.seamless_wallet.views import caller, malformed

FORBIDDEN, CONFLICT = HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT
OFF: Final = "partner-off"  # same code as in the wallet API
NO_TABLE: Final = register(
    "table-unknown", HTTPStatus.NOT_FOUND, _("No such table is available for the player’s currency and jurisdiction")
)
NOT_FOR_OPERATOR_PLAYERS: Final = register(
    "table-not-for-operators", CONFLICT, _("The table is not available to players of operators")
)
REFUSED: Final = {
    TooYoung: register("player-too-young", FORBIDDEN, _("The player is too young to play in this jurisdiction")),
    CurrencyNotOffered: register(
        "currency-not-offered", CONFLICT, _("This currency is not offered in this jurisdiction")
    ),
    operators.PlayerChanged: register(
        "player-changed", CONFLICT, _("The player’s currency, country or date of birth differs from an earlier launch")
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
    """A launch request: the player and the table."""

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
    """Return the URL for the player's browser, valid once and for one minute."""
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
    visit = operators.Visit(
        player=asked.player,
        session=asked.session,
        currency=asked.currency,
        jurisdiction=asked.jurisdiction,
        language=asked.language,
        birth_date=date.fromisoformat(asked.birth_date),
        game=asked.table,
    )
    try:
        announced = operators.announce(partner, visit)
    except tuple(REFUSED) as refusal:
        raise Problem(REFUSED[type(refusal)]) from refusal
    with override(asked.language):
        address = request.build_absolute_uri(reverse("operator_enter", args=[announced.code]))
    return JsonResponse({"address": address, "ends_at": announced.ends_at.isoformat()})


def _demand_table(asked: LaunchAsked) -> None:
    table = Table.objects.select_related("version").filter(slug=asked.table).first()
    if table is None or not operator_money.is_open_to(table, asked.jurisdiction, asked.currency):
        raise Problem(NO_TABLE)
    if not eligibility.is_possible(table):
        raise Problem(NOT_FOR_OPERATOR_PLAYERS)


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_playable_table
def operator_balance(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Return the player's balance at the operator to a page that reloads it."""
    there = balance_there(request.player, found, mode)
    if there is None:
        raise Http404
    return HttpResponse(render_fragment("solo.html#balance_there", there=there))


@never_cache
@require_GET
def operator_enter(request: HttpRequest, code: str) -> HttpResponse:
    """Log in the announced player and redirect to the table. Anyone else is logged out."""
    launch = operators.use(code)
    if launch is None:
        return render(request, "games/visit_over.html", status=HTTPStatus.NOT_FOUND)
    player = launch.operator_player.player
    if locks.lock_of(player):
        context = {"why": "locked", "support": settings.SUPPORT_EMAIL}
        return render(request, "account/no_log_in.html", context, status=HTTPStatus.FORBIDDEN)
    if not player.user.is_active:
        return render(request, "account/no_log_in.html", {"why": "closed"}, status=HTTPStatus.FORBIDDEN)
    adapter = get_adapter(request)
    if request.user.is_authenticated:
        adapter.logout(request)
    registration.choose_language(user=player.user, language=launch.language)
    adapter.login(request, player.user)
    session = session_of(request.session)
    if session is not None:
        operators.begin(launch, session)
    with override(launch.language):
        return redirect("table", slug=launch.game, mode=Mode.REAL)
