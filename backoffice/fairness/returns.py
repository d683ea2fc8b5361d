"""Actual and expected returns of bets (RTP), and whether an alarm about them closes tables."""

from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db.models import Sum
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit.hours import rolled_until
from games.engine.evidence import CONFIDENCE, LIMIT, rounds_to_find
from games.fairness.returns.figures import Scope, charts, groups
from games.fairness.returns.hourly_counts import HOURLY_TOTALS
from games.fairness.returns.monitor import set_stop
from games.labels import bet_name, variant_label
from games.models import ReturnsAlarm, StopPolicy, Table
from games.variants import VARIANTS
from players.access import StaffRequest, actor, staff_required
from players.datetime_format import Day
from wallet.models import Currency, Mode

SEE: Final = "games.view_returns"
CHOOSE: Final = "games.change_stoppolicy"
NAMES: Final = {slug: variant_label(variant, "name", "en") for slug, variant in VARIANTS.items()}


class GameForm(forms.Form):
    """Filter of a game's rounds. An empty field means all; the default for money is real."""

    table = forms.ModelChoiceField(
        Table.objects.filter(variant__in=VARIANTS).order_by("name"), label="Table", required=False, empty_label="All"
    )
    mode = forms.TypedChoiceField(
        label="Money", required=False, choices=Mode.choices, coerce=Mode, empty_value=Mode.REAL, initial=Mode.REAL
    )
    currency = forms.ChoiceField(
        label="Currency", required=False, choices=[("", "Most played"), *((each, each) for each in Currency.values)]
    )
    since = Day("From (UTC)")
    until = Day("To (inclusive)")

    def scope(self, variant: str = "") -> Scope:
        """Return the scope that the form asks for. An invalid form yields all real-money play."""
        asked: dict[str, Any] = self.cleaned_data if self.is_valid() else {}
        since, until, table = asked.get("since"), asked.get("until"), asked.get("table")
        return Scope(
            mode=asked.get("mode") or Mode.REAL,
            variant=asked.get("game") or variant,
            currency=asked.get("currency") or "",
            table=table.pk if table else None,
            since=since and datetime.combine(since, time(), UTC),
            until=until and datetime.combine(until, time.max, UTC),
        )


class ReturnsForm(GameForm):
    """Filter of the rounds of all games, optionally table by table."""

    currency = forms.ChoiceField(
        label="Currency", required=False, choices=[("", "All"), *((each, each) for each in Currency.values)]
    )
    game = forms.ChoiceField(label="Game", required=False, choices=[("", "All"), *NAMES.items()])
    apart = forms.BooleanField(label="Table by table", required=False)
    field_order = ("game", "table", "mode", "currency", "since", "until", "apart")


class StopForm(forms.Form):
    """Whether an alarm closes tables, and the reason for the choice."""

    stops = forms.BooleanField(required=False)
    reason = forms.CharField(max_length=300)


@staff_required(SEE)
@require_safe
def staff_returns(request: StaffRequest) -> HttpResponse:
    """Show the actual and expected return of every bet, and what an alarm does."""
    form = ReturnsForm(request.GET)
    scope = form.scope()
    context = {
        "form": form,
        "scope": scope,
        "groups": groups(scope, by_table=bool(form.is_valid() and form.cleaned_data["apart"])),
        "alarms": [(alarm, _alarm_lines(alarm)) for alarm in ReturnsAlarm.objects.order_by("-pk")],
        "policies": _policies(),
        "times": [
            (NAMES[slug], [(bet_name(game, bet.code, "en"), rounds_to_find(game, bet.code)) for bet in game.bets])
            for slug, game in VARIANTS.items()
        ],
        "may_choose": request.user.has_perm(CHOOSE),
        **_words(),
    }
    return render(request, "staff/returns.html", context)


@staff_required(SEE)
@require_safe
def staff_returns_game(request: StaffRequest, variant: str) -> HttpResponse:
    """Show the return of each bet of a game over time, in one currency."""
    if variant not in VARIANTS:
        raise Http404
    form = GameForm(request.GET)
    scope = form.scope(variant)
    if not scope.currency:
        # Currencies cannot be added up: use the currency with the most rounds.
        scope = replace(scope, currency=_busiest(scope))
    context = {
        "form": form,
        "scope": scope,
        "variant": variant,
        "rules_version": VARIANTS[variant].version,
        "charts": list(charts(scope)),
        **_words(),
    }
    return render(request, "staff/returns_game.html", context)


@staff_required(CHOOSE)
@require_POST
def staff_returns_stop(request: StaffRequest, variant: str) -> HttpResponse:
    """Set whether an alarm closes the tables of a game."""
    if variant not in VARIANTS:
        raise Http404
    form = StopForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter a reason. It is recorded in the audit log.")
        return redirect("staff_returns")
    words = f"An alarm closes {'the' if form.cleaned_data['stops'] else 'no'} tables of {NAMES[variant]}"
    if set_stop(variant=variant, by=actor(request), **form.cleaned_data):
        messages.success(request, f"{words}.")
    else:
        messages.warning(request, f"{words} already. Your reason was not recorded.")
    return redirect("staff_returns")


def _busiest(scope: Scope) -> str:
    row = scope.money.values("currency").annotate(total=Sum("rounds")).order_by("-total", "currency").first()
    return row["currency"] if row else ""


def _policies() -> list[tuple[str, str, StopPolicy | None]]:
    said = StopPolicy.objects.in_bulk()
    return [(slug, name, said.get(slug)) for slug, name in NAMES.items()]


def _alarm_lines(alarm: ReturnsAlarm) -> list[tuple[str, list[str]]]:
    """Return the alarm's figures for each bet, in the order of the table.

    Bets unknown to the game come last.
    """
    names = {bet.code: bet_name(VARIANTS[alarm.variant], bet.code, "en") for bet in VARIANTS[alarm.variant].bets}
    known = [(name, alarm.bets[bet]) for bet, name in names.items() if bet in alarm.bets]
    return known + [(bet, said) for bet, said in alarm.bets.items() if bet not in names]


def _words() -> dict[str, object]:
    """Return the template context that both pages share."""
    return {
        "summed_until": rolled_until(HOURLY_TOTALS),
        "limit": LIMIT,
        "confidence": f"{CONFIDENCE:.0%}",
        "names": NAMES,
    }
