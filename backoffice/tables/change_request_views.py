"""Pages to request a table or another version of one: form, preview, request.

A request is made only after staff have seen its preview. If the result has changed since, for
example because another version went live, the preview is shown again. The preview shows the
content, the returns of bets for the least favourable stake that the limits allow, the house's risk,
and the players who are left out: those without a currency or a language at the table.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, Final, cast

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language, gettext, gettext_lazy
from django.views.decorators.http import require_http_methods

from audit import approvals, log
from audit.log import Json
from audit.models import Approval
from audit.staff_text import language_label
from backoffice.tables.change_request_sheet import Like, Sheet, sheet
from games.betting.limits import Limits, StoredLimits
from games.change_requests import differences, requests, rules
from games.change_requests.differences import (
    BetReturn,
    LowestReturn,
    country,
    describe_table,
    describe_version,
    fraction,
)
from games.change_requests.execution import eligibility_of, limits_of
from games.change_requests.requests import ASK
from games.engine.bets import Variant
from games.engine.settle import SettlementError, largest_win
from games.labels import variant_label
from games.models import Shape, Table, TableVersion
from games.tables.checks import TableError, shapes_of
from games.variants import GAMES, LANGUAGES, VARIANTS
from players.access import StaffRequest, staff_required
from players.models import Jurisdiction


@dataclass(frozen=True)
class Line:
    """A bet in one currency: its exact return, and the lowest return that the limits allow."""

    bet: BetReturn
    lowest: LowestReturn

    @property
    def exact(self) -> str:
        """The exact return as a fraction."""
        return fraction(self.bet.rtp)

    @property
    def exact_lowest(self) -> str:
        """The lowest return as a fraction."""
        return fraction(self.lowest.rtp)


@dataclass(frozen=True)
class OfCurrency:
    """Effects of the limits in one currency. Amounts are minor units."""

    currency: str
    lines: tuple[Line, ...]
    one_player: int  # the most that one player can win in a round, and so cost the house
    everybody: int | None  # the most that all players together can win, at a shared table


@dataclass(frozen=True)
class Preview:
    """Everything that the preview of a request shows."""

    description: approvals.Description
    currencies: tuple[OfCurrency, ...]
    languages: tuple[tuple[str, bool], ...]  # language names, and whether the game has all texts in them
    without_money: tuple[str, ...]  # countries that the table serves without taking any of their currencies

    @property
    def is_chemin(self) -> bool:
        """True if players bet only against each other."""
        return not self.currencies


def preview(request: Mapping[str, Json]) -> Preview:
    """Return the preview of a valid request."""
    is_change = "table" in request
    table = Table.objects.get(pk=str(request["table"])) if is_change else None
    variant = table.variant if table else str(request["variant"])
    shape = Shape(table.shape if table else str(request["shape"]))
    missing, limits = rules.missing(variant), limits_of(request)
    return Preview(
        description=describe_version(request) if is_change else describe_table(request),
        currencies=tuple(_currencies(variant, shape, cast("StoredLimits", limits))) if variant in VARIANTS else (),
        languages=tuple((language_label(code), code not in missing) for code in LANGUAGES),
        without_money=tuple(_without_money(request)),
    )


def most_of_one_player(game: Variant, limits: Limits) -> int:
    """Return the most that one player can win in a round, in minor units.

    It is the largest win of any combination of bets that the rules allow, each at its maximum.
    """
    codes = list(limits.bets)
    together = chain.from_iterable(combinations(codes, many) for many in range(1, len(codes) + 1))
    stakes = ({code: limits.bets[code].maximum for code in chosen} for chosen in together)
    return max(largest_win(game, each) for each in stakes if _may_be_staked(game, each))


def _may_be_staked(game: Variant, stakes: Mapping[str, int]) -> bool:
    try:
        game.check(stakes)
    except SettlementError:
        return False
    return True


def _currencies(variant: str, shape: Shape, limits: StoredLimits) -> Iterator[OfCurrency]:
    game, bets = VARIANTS[variant], differences.bets(variant)
    for currency in limits:
        allowed = Limits.of(limits, currency)
        lowest = differences.lowest(variant, {currency: limits[currency]})
        yield OfCurrency(
            currency=currency,
            lines=tuple(Line(bet, low) for bet, low in zip(bets, lowest, strict=True)),
            one_player=most_of_one_player(game, allowed),
            everybody=allowed.liability if shape is Shape.SHARED else None,
        )


def _without_money(request: Mapping[str, Json]) -> Iterator[str]:
    eligibility = eligibility_of(request)
    for law in Jurisdiction.objects.filter(pk__in=eligibility.jurisdictions if eligibility else ()).order_by("pk"):
        if not set(law.currencies) & limits_of(request).keys():
            yield country(law.pk)


STEP: Final = "step"  # form field: the button that was pressed
ASKING, MENDING = "ask", "mend"
ASKED: Final = gettext_lazy("Requested. A second person must approve it.")
ASKED_ALREADY: Final = gettext_lazy("The same request is already pending.")
SEEN: Final = "seen"  # form field: hash of the request that the preview showed
NO_FIELDS: Final = ("csrfmiddlewaretoken", STEP, SEEN)


class LikeForm(forms.Form):
    """Model for a new table: ``version:7``, or ``baccarat:solo`` for a game and a shape."""

    like = forms.RegexField(r"^(?:version:[0-9]{1,18}|[a-z_]{1,40}:(?:solo|shared|chemin))$")

    def found(self) -> Like | None:
        """Return the model, None if it does not exist."""
        if not self.is_valid():
            return None
        kind, _, which = self.cleaned_data["like"].partition(":")
        if kind == "version":
            version = TableVersion.objects.select_related("table").filter(pk=which).first()
            return Like(version.table.variant, Shape(version.table.shape), version) if version else None
        return Like(kind, Shape(which), None) if (kind, which) in dict(from_nothing()) else None


@staff_required(ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_table_new(request: StaffRequest) -> HttpResponse:
    """Request a table, modelled on a version of another table or on defaults."""
    like = LikeForm(request.POST if request.method == "POST" else request.GET).found()
    if like is None:
        return render(request, "staff/table_new.html", {"tables": _tables(), "games": from_nothing()})
    return _page(request, like, None)


@staff_required(ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_table_change(request: StaffRequest, table_id: int) -> HttpResponse:
    """Request another version of a table.

    The form starts from the version in force, or from an earlier version of the same table.
    """
    table = get_object_or_404(Table.objects.select_related("version"), pk=table_id, version__isnull=False)
    like = LikeForm(request.POST if request.method == "POST" else request.GET).found()
    if like is None or like.version is None or like.version.table_id != table.pk:
        like = Like(table.variant, Shape(table.shape), table.version)
    return _page(request, like, table)


def _page(request: StaffRequest, like: Like, table: Table | None) -> HttpResponse:
    """Show the form with its errors, show the preview, or make the request and redirect to it."""
    if request.method != "POST":
        return _form(request, sheet(like, table=table), table)
    filled, step = sheet(like, table=table, data=request.POST), request.POST.get(STEP)
    if not filled.is_valid() or step == MENDING:
        return _form(request, filled, table)
    try:
        asked = filled.asked()
        frozen = _frozen(asked, table)
        if step != ASKING or request.POST.get(SEEN) != _hash(frozen):
            return _preview(request, filled, frozen, table)
        approval = _ask(request, asked | {"reason": filled.terms.cleaned_data["reason"]}, table)
    except TableError as error:
        filled.refuse(error)
        return _form(request, filled, table)
    except approvals.AskedTwice:
        filled.terms.add_error(None, ASKED_ALREADY)
        return _form(request, filled, table)
    messages.success(request, ASKED)
    return redirect("staff_approval", approval_id=approval.pk)


def _frozen(asked: Mapping[str, Any], table: Table | None) -> dict[str, Json]:
    """Return the request as it would be stored and read again, so that the approver sees the same.

    Raises TableError if the request cannot be carried out now.
    """
    request = requests.version_request(table_id=table.pk, **asked) if table else requests.table_request(**asked)
    frozen: dict[str, Json] = json.loads(log.canonical(request))
    return frozen


def _ask(request: StaffRequest, asked: Mapping[str, Any], table: Table | None) -> Approval:
    if table is None:
        return requests.ask_table(staff=request.staff, **asked)
    return requests.ask_version(table_id=table.pk, staff=request.staff, **asked)


def _form(request: StaffRequest, filled: Sheet, table: Table | None) -> HttpResponse:
    return render(request, "staff/table_ask.html", _context(request, filled, table))


def _preview(request: StaffRequest, filled: Sheet, frozen: Mapping[str, Json], table: Table | None) -> HttpResponse:
    given = [(name, value) for name, values in request.POST.lists() if name not in NO_FIELDS for value in values]
    shown = {
        "preview": preview(frozen),
        "given": given,
        "seen": _hash(frozen),
        "is_another": SEEN in request.POST,
        "reason": filled.terms.cleaned_data["reason"],
    }
    return render(request, "staff/table_preview.html", _context(request, filled, table) | shown)


def _hash(frozen: Mapping[str, Json]) -> str:
    return hashlib.sha256(log.canonical(frozen).encode()).hexdigest()


def _context(request: StaffRequest, filled: Sheet, table: Table | None) -> dict[str, Any]:
    like = filled.like
    return {
        "sheet": filled,
        "table": table,
        "like": f"version:{like.version.pk}" if like.version else f"{like.variant}:{like.shape}",
        "like_version": like.version,
        "game": variant_label(GAMES[like.variant], "name", get_language() or "en"),
        "shape": like.shape.label,
        "here": request.path,
        "is_wrong": request.method == "POST" and not filled.is_valid(),
    }


def _tables() -> list[tuple[int, str]]:
    """Return every version in force, with the name of its table."""
    found = Table.objects.filter(version__isnull=False).select_related("version").order_by("name")
    return [
        (
            each.version.pk,
            (gettext("%(each)s, version %(number)s") % {"each": each.name, "number": each.version.number}),
        )
        for each in found
        if each.version
    ]


def from_nothing() -> list[tuple[tuple[str, str], str]]:
    """Return every game and the possible shapes of its tables, with their names."""
    return [
        ((slug, str(shape)), f"{variant_label(game, 'name', get_language() or 'en')}: {shape.label}")
        for slug, game in GAMES.items()
        for shape in shapes_of(slug)
    ]
