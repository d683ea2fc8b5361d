"""View with which a player reports how another one plays: a page of its own, which works without a script."""

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from games.chemin.collusion import player_reports
from games.chemin.pages.messages import player_name
from games.models import ChatName, CheminSeat, LiveTable, PlayReason, Shape, Table
from games.shared.pages.views import live_table_of
from games.tables.access import at_a_playable_table
from players.access import PlayerRequest, player_required
from players.rates import at_a_human_pace
from wallet.models import Mode


class ReportForm(forms.Form):
    """The reported seat, the reason and a text."""

    seat_id = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    reason = forms.TypedChoiceField(coerce=PlayReason)
    text = forms.CharField(required=False, max_length=player_reports.LONGEST)

    def __init__(self, *args: Any, seated_players: Sequence[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seated_players = seated_players
        self.fields["reason"].choices = _reasons()  # type: ignore[attr-defined]

    @property
    def fault(self) -> str:
        """Return what is missing, or ""."""
        if not self.is_bound or self.is_valid():
            return ""
        if "text" in self.errors:
            return str(self.errors["text"][0])
        return _("Choose a player and what you noticed.")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@at_a_human_pace
def chemin_report(request: PlayerRequest, slug: str, mode: Mode) -> HttpResponse:
    """Show or process the form, also for a recent player who may no longer play at the table."""
    left = player_reports.left_lately(request.player, slug, mode)
    return _report(request, left.live_table.table, mode) if left else _as_anybody(request, slug, mode)


def _report(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    if found.shape != Shape.CHEMIN:
        raise Http404
    live = live_table_of(found, mode)
    seated_players = _named(player_reports.others_lately(live, request.player), request.player.jurisdiction.time_zone)
    form = ReportForm(
        request.POST if request.method == "POST" else None, seated_players=seated_players, initial=_wish(request)
    )
    if not form.is_valid():
        return _page(request, live, form, form.fault)
    try:
        player_reports.report(player=request.player, live_table_id=live.pk, **form.cleaned_data)
    except player_reports.ReportError as error:
        return _page(request, live, form, str(error))
    return render(request, "games/chemin_report.html", {"table": found, "now_mode": mode, "is_done": True})


_as_anybody = at_a_playable_table(_report)


def _page(request: HttpRequest, live: LiveTable, form: ReportForm, fault: str) -> HttpResponse:
    context = {
        "table": live.table,
        "now_mode": live.mode,
        "form": form,
        "fault": fault,
        "longest": player_reports.LONGEST,
    }
    return render(request, "games/chemin_report.html", context)


def _wish(request: HttpRequest) -> dict[str, str]:
    """Return the seat preselected by the link."""
    return {"seat_id": request.GET.get("seat", "")}


def _named(seated_players: Sequence[CheminSeat], zone: str) -> list[tuple[int, str]]:
    """Return the names of seats by id; with the time of leaving, because another player may sit there now."""
    chosen = ChatName.objects.filter(player__in=[seat.player_id for seat in seated_players]).values_list(
        "player", "name"
    )
    names: dict[int | None, str] = dict(chosen)
    return [(seat.pk, _name(seat, names.get(seat.player_id, ""), zone)) for seat in seated_players]


def _name(seat: CheminSeat, chat_name: str, zone: str) -> str:
    who = player_name(seat.number, chat_name)
    if seat.left_at is None:
        return who
    return _("%(who)s, until %(time)s") % {"who": who, "time": f"{seat.left_at.astimezone(ZoneInfo(zone)):%H:%M}"}


def _reasons() -> list[tuple[PlayReason, str]]:
    return [
        (PlayReason.CHIP_DUMPING, _("Loses to another player on purpose")),
        (PlayReason.SOFT_PLAY, _("Goes easy on another player: does not stake against their bank")),
        (PlayReason.SIGNS, _("Colludes with another player, or signals to them during play")),
        (PlayReason.OTHER, _("Something else")),
    ]
