"""Views of the statement."""

from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django import forms
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from games.history.statement import movements
from games.history.statement.figures import Choice, Period, chosen, figures, today_in
from games.history.statement.movements import listing
from players.access import PlayerRequest, player_required
from players.datetime_format import Day
from players.rates import at_a_human_pace, one_at_a_time
from wallet.models import Mode

CHOICES = (
    (Choice.MONTH, gettext_lazy("This month")),
    (Choice.LAST_MONTH, gettext_lazy("Last month")),
    (Choice.THREE_MONTHS, gettext_lazy("Last 3 months")),
    (Choice.YEAR, gettext_lazy("This year")),
    (Choice.TWELVE_MONTHS, gettext_lazy("Last 12 months")),
)


class PeriodForm(forms.Form):
    """The period (by name, or by first and last day) and the kind of money."""

    period = forms.ChoiceField(choices=CHOICES, required=False)
    mode = forms.ChoiceField(choices=[(mode.name.lower(), mode.name) for mode in Mode], required=False)
    since = Day(pgettext_lazy("first day of a period", "From"))
    until = Day(pgettext_lazy("last day of a period", "To"))
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def __init__(self, data: QueryDict, *, zone: ZoneInfo) -> None:
        super().__init__(data)
        self.zone, self.today = zone, today_in(zone)
        self.full_clean()

    def clean(self) -> None:
        """Reject a period with only one day given, or one that ends before it begins."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if not self.errors and bool(since) != bool(until):
            raise forms.ValidationError(_("Choose a start date and an end date. This month is shown."))
        if since and until and since > until:
            raise forms.ValidationError(_("The start date is after the end date. This month is shown."))

    @property
    def fault(self) -> str:
        """The error message of an invalid form, or ""."""
        if self.is_valid():
            return ""
        if "__all__" in self.errors:
            return str(self.errors["__all__"][0])
        return _("This period is not valid. This month is shown.")

    @property
    def chosen(self) -> Choice | None:
        """The name of the period; None if the player chose the days."""
        if not self.is_valid():
            return Choice.MONTH
        return None if self.cleaned_data["since"] else Choice(self.cleaned_data["period"] or Choice.MONTH)

    @property
    def shown(self) -> Period:
        """The period to show; this month if the form is not valid."""
        if self.chosen:
            return chosen(self.chosen, self.zone, self.today)
        return Period(self.cleaned_data["since"], self.cleaned_data["until"], self.zone)

    @property
    def money(self) -> Mode:
        """Real or free money."""
        asked = self.cleaned_data.get("mode")
        return Mode[asked.upper()] if asked else Mode.REAL

    @property
    def before_id(self) -> int | None:
        """The id of the journal above which the list ends."""
        return self.cleaned_data.get("before")

    @property
    def query(self) -> str:
        """The URL query string for exactly these days."""
        return urlencode({"mode": self.money.name.lower(), "since": self.shown.since, "until": self.shown.until})


@player_required
@require_safe
@at_a_human_pace
def statement(request: PlayerRequest) -> HttpResponse:
    """Show the player's statement for a period, with a page of its movements."""
    form = _form(request)
    period, mode = form.shown, form.money
    context = {
        "form": form,
        "choices": CHOICES,
        "period": period,
        "mode_word": mode.name.lower(),
        "currency": request.player.currency,
        "figures": figures(request.player, mode, period),
        "listing": listing(request.player, mode, period, before=form.before_id),
    }
    with timezone.override(period.zone):
        return render(request, "games/statement.html", context)


@player_required
@require_safe
@at_a_human_pace
@one_at_a_time
def statement_csv(request: PlayerRequest) -> HttpResponseBase:
    """Return every movement of the period as a CSV file."""
    form = _form(request)
    if form.fault:
        return _back(request)
    lines = movements.lines(request.player, form.money, form.shown, get_language() or "en")
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    return _named(response, form.shown, "csv")


@player_required
@require_safe
@at_a_human_pace
@one_at_a_time
def statement_pdf(request: PlayerRequest) -> HttpResponseBase:
    """Return the statement as a PDF."""
    from games.history.statement.pdf_file import Paper, document  # reportlab: 4.4 MB in each process

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
