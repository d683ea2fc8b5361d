"""Pages of games: rules, returns, table versions, and versions scheduled to go live."""

from typing import Final

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language_info
from django.views.decorators.http import require_POST, require_safe

from audit import approvals
from audit.models import Approval
from backoffice.tables import version_history
from games.change_requests import differences, languages, returns, schedule
from games.change_requests.requests import ASK, DECIDE
from games.change_requests.requests import TABLE as MAKE
from games.change_requests.requests import VERSION as CHANGE
from games.labels import variant_label
from games.models import ScheduledVersion, ScheduleEnding, Table, TableVersion
from games.tables.checks import Served, TableError
from games.variants import GAMES, LANGUAGES
from players.access import StaffRequest, actor, staff_required

READERS: Final = (ASK, DECIDE)
ENDED: Final = 20  # ended schedules on the page


class PageForm(forms.Form):
    """Cursor of the list of versions, and two versions to compare."""

    before = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    one = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    other = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)


class WithdrawForm(forms.Form):
    """Reason for withdrawing a scheduled version."""

    reason = forms.CharField(max_length=300)


@staff_required(*READERS)
@require_safe
def staff_games(request: StaffRequest) -> HttpResponse:
    """List every game with its rules, returns and tables, open requests, and scheduled versions."""
    ended = ScheduleEnding.objects.select_related("schedule__approval").order_by("-at")
    context = {
        "games": [
            (slug, variant_label(game, "name", "en"), game, returns.bets(slug), _tables(slug))
            for slug, game in GAMES.items()
        ],
        "asked": [(each, _title(each)) for each in approvals.waiting().filter(kind__in=(CHANGE, MAKE)).order_by("pk")],
        "waiting": [(each, _title(each.approval)) for each in schedule.waiting()],
        "ended": [(each, _title(each.schedule.approval)) for each in ended[:ENDED]],
        "may_withdraw": request.user.has_perm(ASK),
    }
    return render(request, "staff/games.html", context)


@staff_required(*READERS)
@require_safe
def staff_game(request: StaffRequest, variant: str) -> HttpResponse:
    """Show one game: paytable with exact returns, languages, past rules and tables."""
    if variant not in GAMES:
        raise Http404
    missing = languages.missing(variant)
    context = {
        "slug": variant,
        "game": GAMES[variant],
        "name": variant_label(GAMES[variant], "name", "en"),
        "bets": [(bet, differences.fraction(bet.rtp)) for bet in returns.bets(variant)],
        "tables": version_history.tables_of(variant),
        "languages": [(get_language_info(code)["name"], missing.get(code, [])) for code in LANGUAGES],
        "rules": version_history.of_rules(variant),
        "figures": version_history.figures(variant),
    }
    return render(request, "staff/game.html", context)


@staff_required(*READERS)
@require_safe
def staff_game_table(request: StaffRequest, table_id: int) -> HttpResponse:
    """Show one table: the version in force, all versions with requester and approver, and a comparison of two."""
    table = get_object_or_404(Table.objects.select_related("version"), pk=table_id, version__isnull=False)
    form = PageForm(request.GET)
    asked = form.cleaned_data if form.is_valid() else {}
    lines, older = version_history.of_table(table, before=asked.get("before"))
    version = table.version
    context = {
        "table": table,
        "name": variant_label(GAMES[table.variant], "name", "en"),
        "in_force": differences.written(table.variant, version.limits, version.clock, Served.under(version))
        if version
        else {},
        "lowest": version_history.lowest(table),
        "lines": lines,
        "older": older,
        "compared": _compared(table, asked.get("one"), asked.get("other")),
        "asked": approvals.waiting().filter(kind=CHANGE, on=f"table:{table.pk}").first(),
        "waiting": schedule.of_table(table).first(),
    }
    return render(request, "staff/game_table.html", context)


@staff_required(ASK)
@require_POST
def staff_schedule_withdraw(request: StaffRequest, approval_id: int) -> HttpResponse:
    """Withdraw a scheduled version, with a reason."""
    form = WithdrawForm(request.POST)
    get_object_or_404(ScheduledVersion, pk=approval_id)
    if not form.is_valid():
        messages.error(request, "Say why: the reason is kept in the log.")
        return redirect("staff_games")
    try:
        schedule.withdraw(approval_id=approval_id, by=actor(request), reason=form.cleaned_data["reason"])
    except TableError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Withdrawn: it does not go live.")
    return redirect("staff_games")


def _tables(variant: str) -> list[Table]:
    return list(Table.objects.filter(variant=variant, version__isnull=False).select_related("version").order_by("name"))


def _compared(
    table: Table, one: int | None, other: int | None
) -> tuple[TableVersion, TableVersion, list[differences.Change]] | None:
    """Compare the two versions with these numbers. Returns None if either does not exist."""
    found = {each.number: each for each in table.versions.filter(number__in=(one, other))} if one and other else {}
    if one not in found or other not in found:
        return None
    return found[one], found[other], version_history.between(table, found[one], found[other])


def _title(asked: Approval) -> str:
    """Return the title of a request. A request that was tampered with has only its number."""
    try:
        return approvals.kind(asked.kind).describe(approvals.thaw(asked)).title
    except approvals.Tampered:
        return f"Request {asked.pk}"
