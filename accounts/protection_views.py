"""Player protection: pause, time-out, self-exclusion, reality check, and the API's pause button.

They are in this app because stopping also returns money from open games.
"""

from contextlib import suppress
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from players.access import PlayerRequest, player_required
from players.api.calls import once
from players.api.reading import Strict, body_of
from players.api.views import PlayerApiView
from players.datetime_format import written_moment
from players.login.current_user import session_id
from players.models import Exclusion, ExclusionKind, Player, Scope, Staff
from players.protection import eligibility, exclusions, play_sessions
from wallet.ledger import purse
from wallet.models import Mode

OWN_DATE = "own"
FOR_GOOD = "good"


class TimeOutForm(forms.Form):
    """A day, a week, a month, or until a date."""

    length = forms.ChoiceField(
        label=gettext_lazy("Duration"),
        choices=[
            ("day", gettext_lazy("1 day")),
            ("week", gettext_lazy("1 week")),
            ("month", gettext_lazy("1 month")),
            (OWN_DATE, gettext_lazy("Until a date I choose")),
        ],
    )
    until = forms.DateField(
        label=gettext_lazy("Until"),
        required=False,
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        help_text=gettext_lazy("Only if you choose your own date: at most six weeks from now."),
    )

    def clean(self) -> dict[str, Any]:
        """Require the date only if it was chosen, otherwise drop it."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("length") != OWN_DATE:
            cleaned["until"] = None
        elif not cleaned.get("until") and "until" not in self.errors:
            self.add_error("until", _("Choose the date from which you can play again."))
        return cleaned

    def refuse_date(self) -> None:
        """Add an error that names the possible dates."""
        self.add_error("until", _("Choose a date after today and at most six weeks from now."))


class SelfExclusionForm(forms.Form):
    """Duration of a self-exclusion, and confirmation that it cannot be undone."""

    months = forms.ChoiceField(label=gettext_lazy("Duration"))
    is_sure = forms.BooleanField(
        label=gettext_lazy("I understand that no one can end this early."),
        error_messages={"required": gettext_lazy("Tick this box to confirm your self-exclusion.")},
    )

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [
            (str(months), ngettext("%d month", "%d months", months) % months)
            for months in exclusions.months_offered(player)
        ]
        self.fields["months"].choices = [*offered, (FOR_GOOD, _("Permanently"))]  # type: ignore[attr-defined]

    def clean_months(self) -> int | None:
        """Return the number of months; None: permanently."""
        chosen = self.cleaned_data["months"]
        return None if chosen == FOR_GOOD else int(chosen)


class IntervalForm(forms.Form):
    """Interval of the reality check, in minutes."""

    minutes = forms.TypedChoiceField(label=gettext_lazy("Remind me"), coerce=int)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = {minutes: _("every %(minutes)d minutes") % {"minutes": minutes} for minutes in play_sessions.INTERVALS}
        self.fields["minutes"].choices = list(labels.items())  # type: ignore[attr-defined]


@player_required
@require_safe
def protection(request: PlayerRequest) -> HttpResponse:
    """Show all protection tools and the exclusions in force."""
    return _overview(request)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def pause(request: PlayerRequest) -> HttpResponse:
    """Pause at once. On GET, ask for confirmation if the jurisdiction allows it; otherwise show the page."""
    if request.method != "POST":
        if exclusions.in_force(request.player) or not request.player.jurisdiction.pause_asks:
            return redirect("protection")
        return render(request, "players/pause.html", {"hours": request.player.jurisdiction.pause_hours})
    with transaction.atomic():
        exclusions.pause(player=request.player, by=str(request.player))
        give_back(request.player)
    return redirect("protection")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def time_out(request: PlayerRequest) -> HttpResponse:
    """Start a time-out, or show the errors. GET redirects, because the language switch may request this URL."""
    if request.method != "POST":
        return redirect("protection")
    form = TimeOutForm(request.POST, auto_id="time-out-%s")
    if not form.is_valid():
        return _overview(request, time_out=form)
    try:
        with transaction.atomic():
            exclusions.take_time_out(player=request.player, by=str(request.player), **form.cleaned_data)
            give_back(request.player)
    except exclusions.UntilOutOfRange:
        form.refuse_date()
        return _overview(request, time_out=form)
    return redirect("protection")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def exclude_self(request: PlayerRequest) -> HttpResponse:
    """Start a self-exclusion, or show the errors.

    GET redirects, because the language switch may request this URL.
    """
    if request.method != "POST":
        return redirect("protection")
    form = SelfExclusionForm(request.POST, player=request.player, auto_id="exclusion-%s")
    if not form.is_valid():
        return _overview(request, exclusion=form)
    with transaction.atomic():
        exclusions.exclude_self(player=request.player, months=form.cleaned_data["months"], by=str(request.player))
        give_back(request.player)
    return redirect("protection")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def reality_interval(request: PlayerRequest) -> HttpResponse:
    """Set the interval of the reality check."""
    if request.method != "POST":
        return redirect("protection")
    form = IntervalForm(request.POST, auto_id="interval-%s")
    if not form.is_valid():
        return _overview(request, interval=form)
    play_sessions.choose_interval(player=request.player, minutes=form.cleaned_data["minutes"])
    messages.success(request, _("Saved. The new interval applies from now on."))
    return redirect("protection")


@player_required
@require_POST
def reality_check(request: PlayerRequest) -> HttpResponse:
    """Answer the reality check at a table, and return to the table or to the lobby."""
    goes_on, session = request.POST.get("answer") == "continue", session_id(request)
    if session:
        play_sessions.answer_check(player=request.player, session=session, goes_on=goes_on)
    slug, mode = request.POST.get("table", ""), request.POST.get("mode", "")
    if goes_on and slug and mode in Mode.values:
        with suppress(NoReverseMatch):  # not sent by our pages
            return redirect(_where_they_play(request, slug, Mode(mode)))
    return redirect("lobby")


def _where_they_play(request: PlayerRequest, slug: str, mode: Mode) -> str:
    """Return the URL of the table, together with others if several were open."""
    positions = request.POST.get("positions", "")
    return reverse("multi_table", args=[positions]) if positions else reverse("table", args=[slug, mode])


def give_back(player: Player, *, why: purse.Leaving = purse.Leaving.EXCLUDED, by: Staff | None = None) -> None:
    """Return money of both modes from open games to the player's account, from which it can be withdrawn.

    *by* is a staff member, or None for the player.
    """
    for mode in Mode:
        purse.give_back(player=player, mode=mode, why=why, by=str(by or player))


def _overview(
    request: PlayerRequest,
    *,
    time_out: TimeOutForm | None = None,
    exclusion: SelfExclusionForm | None = None,
    interval: IntervalForm | None = None,
) -> HttpResponse:
    player, language = request.player, get_language() or "en"
    held = exclusions.in_force(player)
    context = {
        "ineligibility": eligibility.check_play(player, real=False),
        "excluded": held,
        "exclusions": [_line(each, language) for each in exclusions.all_in_force(player)],
        "hours": player.jurisdiction.pause_hours,
        "asks": player.jurisdiction.pause_asks,
        "permanent_days": player.jurisdiction.permanent_days,
        "time_out": time_out or TimeOutForm(auto_id="time-out-%s"),
        "exclusion": exclusion or SelfExclusionForm(player=player, auto_id="exclusion-%s"),
        "interval": interval
        or IntervalForm(initial={"minutes": play_sessions.interval(player)}, auto_id="interval-%s"),
    }
    return render(request, "players/protection.html", context)


def _line(exclusion: Exclusion, language: str) -> tuple[str, str]:
    """Return the label of an exclusion's kind and its end as text."""
    if exclusion.until is None:
        return str(ExclusionKind(exclusion.kind).label), _("permanent")
    zone = exclusion.player.jurisdiction.time_zone
    return str(ExclusionKind(exclusion.kind).label), written_moment(exclusion.until, language, zone)


class PauseSchema(serializers.Serializer[Any]):
    """The exclusion in force."""

    kind = serializers.ChoiceField(choices=ExclusionKind.values)
    until = serializers.DateTimeField(allow_null=True, help_text="null: for good")
    detail = serializers.CharField(help_text="a sentence, in the language asked for")


class Pause(PlayerApiView):
    """The pause button."""

    scopes: ClassVar = {"POST": Scope.PLAY}

    @extend_schema(operation_id="pause", request=None, responses=PauseSchema)
    def post(self, request: Request) -> Response:
        """Pause at once, for the hours that the law where you live says. It cannot be ended before its time; money
        in games goes back to your account.
        """
        body_of(request, Strict)
        player = self.player
        self.session()

        def pause() -> Response:
            exclusions.pause(player=player, by=str(player))
            give_back(player)
            longest = exclusions.in_force(player)
            assert longest is not None  # noqa: S101  (the pause has just begun)
            answer = {"kind": longest.kind, "until": longest.until, "detail": eligibility.exclusion_message(player)}
            return Response(answer)

        return once(request, pause)
