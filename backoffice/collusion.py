"""Collusion review at Chemin de Fer: suspicious pairs, their coups, and players' reports.

No page here takes action against a player, apart from recording a finding about a report.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from operator import attrgetter
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from backoffice.lists.paging import Order
from games.chemin.collusion import messages as integrity_messages
from games.chemin.collusion import player_reports
from games.chemin.collusion.choices import pace
from games.chemin.collusion.signals import AnalysedPair, PlayAnalysis, analyse_play
from games.chemin.collusion.statistics import Scope
from games.models import CheminStake, PlayFinding, PlayReport, Shape, Table
from players.access import StaffRequest, staff_required
from players.datetime_format import Day
from players.models import Player
from players.staff import access_log
from wallet.models import Currency, Mode

EXAMINE: Final = "games.examine_play"
DAYS: Final = 30  # default length of the period
PAIRS, COUPS, REPORTS = 25, 50, 20  # per page
SORTS: Final = [("signs", "Signal"), ("deviation", "Deviation"), ("net", "Money")]


class ScopeForm(forms.Form):
    """Filter of play to examine. Defaults: the last month, real money."""

    since = Day("From (UTC)")
    until = Day("To (inclusive)")
    mode = forms.TypedChoiceField(
        label="Money", required=False, choices=Mode.choices, coerce=Mode, empty_value=Mode.REAL, initial=Mode.REAL
    )
    currency = forms.ChoiceField(
        label="Currency", required=False, choices=[("", "All"), *((code, code) for code in Currency.values)]
    )
    table = forms.ModelChoiceField(
        Table.objects.filter(shape=Shape.CHEMIN).order_by("name"), label="Table", required=False, empty_label="All"
    )

    def scope(self) -> Scope:
        """Return the scope that the form asks for.

        An invalid form yields the last month of real money.
        """
        asked: dict[str, Any] = self.cleaned_data if self.is_valid() else {}
        until = asked.get("until") or now().date()
        since = asked.get("since") or until - timedelta(days=DAYS)
        table = asked.get("table")
        return Scope(
            since=datetime.combine(since, time(), UTC),
            until=datetime.combine(until + timedelta(days=1), time(), UTC),
            mode=asked.get("mode") or Mode.REAL,
            currency=asked.get("currency") or None,
            table=table.pk if table else None,
        )


class PairsForm(ScopeForm):
    """Filter and order of pairs."""

    player = forms.CharField(label="Player number", required=False, max_length=30)
    which = forms.ChoiceField(label="Pairs", required=False, choices=[("", "With signals"), ("all", "All")])
    sort = forms.ChoiceField(label="First", required=False, choices=SORTS)

    def clean_player(self) -> int | None:
        """Return the player's number, or None."""
        known = self.cleaned_data["player"].strip().lower().removeprefix("player:")
        if not known:
            return None
        if not (known.isascii() and known.isdecimal() and len(known) < 19):
            raise forms.ValidationError("Enter a player number.")
        return int(known)


class FindingForm(forms.Form):
    """Finding about a report, with a note."""

    finding = forms.TypedChoiceField(choices=PlayFinding.choices, coerce=PlayFinding)
    note = forms.CharField(max_length=500)


@dataclass(frozen=True)
class PairLine:
    """A pair as a line of the list."""

    pair: AnalysedPair
    currency: str
    names: list[str]


@staff_required(EXAMINE)
@access_log.listed("player pairs")
@require_safe
def staff_play(request: StaffRequest) -> HttpResponse:
    """List pairs of players, most suspicious first."""
    form = PairsForm(request.GET)
    scope = form.scope()
    asked: dict[str, Any] = form.cleaned_data if form.is_valid() else {}
    found = analyse_play(scope)
    chosen = [
        pair for pair in found.pairs if (asked.get("which") or pair.signs) and asked.get("player") in (None, *pair.pair)
    ]
    page = Paginator(_sorted(chosen, asked.get("sort", "")), PAIRS).get_page(request.GET.get("page"))
    currencies = _currencies(page)
    access_log.shown(request, *(player for each in page for player in each.pair))
    context = {
        "form": form,
        "scope": scope,
        "test_counts": found.test_counts,
        "page": page,
        "lines": [PairLine(pair, currencies[pair.pair[0]], integrity_messages.names(pair)) for pair in page],
        "waiting": player_reports.waiting().count(),
    }
    return render(request, "staff/play.html", context)


@staff_required(EXAMINE)
@require_safe
def staff_play_pair(request: StaffRequest, first_id: int, second_id: int) -> HttpResponse:
    """Show the coups between two players. The access is recorded in the access log."""
    if first_id >= second_id:
        raise Http404
    first, second = (get_object_or_404(Player, pk=pk) for pk in (first_id, second_id))
    form = ScopeForm(request.GET)
    scope = form.scope()
    found = analyse_play(scope)
    access_log.note(request, first, second, what=f"play from {scope.since:%Y-%m-%d} until {scope.until:%Y-%m-%d}")
    coups = Paginator(coups_between(scope, first, second), COUPS)
    context = {
        "form": form,
        "players": (first, second),
        "currency": first.currency,
        "reasons": _reasons(found, (first_id, second_id), first.currency),
        "paces": pace(scope, (first_id, second_id)),
        "page": coups.get_page(request.GET.get("page")),
        "reports": player_reports.all_reports().filter(seat__player__in=(first, second))[:REPORTS],
    }
    return render(request, "staff/play_pair.html", context)


@staff_required(EXAMINE)
@access_log.listed("player reports")
@require_safe
def staff_play_reports(request: StaffRequest) -> HttpResponse:
    """List players' reports: those without a finding, oldest first, then the latest findings."""
    page = Order(("at", "id"), is_rising=True).page(player_reports.waiting(), request.GET, REPORTS)
    decided = list(player_reports.all_reports().exclude(decided_at=None).order_by("-decided_at")[:REPORTS])
    access_log.shown(
        request, *(number for each in (*page.rows, *decided) for number in (each.seat.player_id, each.reporter_id))
    )
    context = {
        "page": page,
        "decided": decided,
        "findings": PlayFinding.choices,
    }
    return render(request, "staff/play_reports.html", context)


@staff_required(EXAMINE)
@require_POST
def staff_play_decide(request: StaffRequest, report_id: int) -> HttpResponse:
    """Record a finding about a report."""
    get_object_or_404(PlayReport, pk=report_id)
    form = FindingForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a finding and enter a reason. Both are recorded.")
        return redirect("staff_play_reports")
    try:
        found = player_reports.decide(report_id=report_id, by=request.staff, **form.cleaned_data)
    except player_reports.Decided as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"Report {found.pk} is decided: {found.get_finding_display()}.")
    return redirect("staff_play_reports")


def coups_between(scope: Scope, first: Player, second: Player) -> QuerySet[CheminStake]:
    """Return the stakes of one player against the other's bank, latest first, with their coups."""
    ways = Q(player=first, coup__banker_player=second) | Q(player=second, coup__banker_player=first)
    found = CheminStake.objects.filter(
        ways,
        coup__at__gte=scope.since,
        coup__at__lt=scope.until,
        coup__round__live_table__mode=scope.mode,
    )
    if scope.table:
        found = found.filter(coup__round__live_table__table=scope.table)
    found = found.annotate(won=F("returned") - F("stake")).select_related("coup__round__live_table__table")
    return found.order_by("-coup__at", "-pk")


def _sorted(pairs: Iterable[AnalysedPair], sort: str) -> list[AnalysedPair]:
    """Sort by deviation or by money, largest first; otherwise by the number of signs, most first."""
    if sort in ("deviation", "net"):
        return sorted(pairs, key=attrgetter(sort), reverse=True)
    return sorted(pairs, key=lambda pair: (len(pair.signs), pair.deviation), reverse=True)


def _currencies(pairs: Iterable[AnalysedPair]) -> dict[int, str]:
    known = Player.objects.filter(pk__in=[pair.pair[0] for pair in pairs])
    return dict(known.values_list("pk", "currency"))


def _reasons(found: PlayAnalysis, pair: tuple[int, int], currency: str) -> list[tuple[str, bool]]:
    known = next((each for each in found.pairs if each.pair == pair), None)
    return integrity_messages.reasons(known, found.test_counts, currency) if known else []
