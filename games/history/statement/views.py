"""The statement's pages. Thin: parse, ask, render."""

from zoneinfo import ZoneInfo

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from games.history.statement import csv_file
from games.history.statement.figures import figures
from games.history.statement.forms import CHOICES, PeriodForm
from games.history.statement.movements import listing
from games.history.statement.pdf_file import Paper, document
from games.history.statement.period import Period
from players.access import PlayerRequest, player_required
from players.rates import at_a_human_pace


@player_required
@require_safe
@at_a_human_pace
def statement(request: PlayerRequest) -> HttpResponse:
    """The player's statement for a period, with a page of its movements."""
    form = _form(request)
    period, mode = form.shown, form.money
    context = {
        "form": form,
        "choices": CHOICES,
        "period": period,
        "mode_word": mode.name.lower(),
        "currency": request.player.currency,
        "figures": figures(request.player, mode, period),
        "listing": listing(request.player, mode, period, before=form.mark),
    }
    with timezone.override(period.zone):
        return render(request, "games/statement.html", context)


@player_required
@require_safe
@at_a_human_pace
def statement_csv(request: PlayerRequest) -> HttpResponseBase:
    """Every movement of the period, as a file for spreadsheets."""
    form = _form(request)
    if form.fault:
        return _back(request)
    lines = csv_file.lines(request.player, form.money, form.shown, get_language() or "en")
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    return _named(response, form.shown, "csv")


@player_required
@require_safe
@at_a_human_pace
def statement_pdf(request: PlayerRequest) -> HttpResponseBase:
    """The statement as a document."""
    form = _form(request)
    if form.fault:
        return _back(request)
    paper = Paper(
        player=request.player,
        mode=form.money,
        period=form.shown,
        figures=figures(request.player, form.money, form.shown),
        made_at=timezone.now(),
        language=get_language() or "en",
    )
    return _named(HttpResponse(document(paper), content_type="application/pdf"), form.shown, "pdf")


def _form(request: PlayerRequest) -> PeriodForm:
    return PeriodForm(request.GET, zone=ZoneInfo(request.player.jurisdiction.time_zone))


def _back(request: PlayerRequest) -> HttpResponse:
    return redirect(f"{reverse('statement')}?{request.GET.urlencode()}")


def _named(response: HttpResponseBase, period: Period, ending: str) -> HttpResponseBase:
    name = f"sabot-statement-{period.since}--{period.until}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
