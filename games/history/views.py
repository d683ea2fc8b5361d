"""The pages of Game logs: a player's rounds, one of them, and all of them as a file. Thin: parse, ask, render."""

from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from games import history as logs
from games.history import csv_export
from games.history.forms import SearchForm
from games.history.search import every
from games.rounds import unseen
from players.access import PlayerRequest, player_required


@player_required
@require_safe
def history(request: PlayerRequest) -> HttpResponse:
    """Game logs: the player's real-money rounds, newest first."""
    mark = request.GET.get("before", "")
    before = int(mark) if mark.isascii() and mark.isdigit() and len(mark) < 19 else None
    form = SearchForm(request.GET, player=request.player)
    page = logs.history(request.player, before=before, language=get_language() or "en", search=form.search)
    context = {
        "playing": logs.playing(request.player, get_language() or "en") if before is None and not form.query else (),
        "rounds": page.rounds,
        "older": page.older,
        "first": before is None,
        "form": form,
        "filtered": bool(form.query),
    }
    whole = not request.htmx or request.htmx.history_restore_request
    response = render(request, "games/history.html" if whole else "games/_history.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@player_required
@require_safe
def history_csv(request: PlayerRequest) -> HttpResponseBase:
    """The rounds that Game logs would show, all of them, as a file."""
    form = SearchForm(request.GET, player=request.player)
    if form.fault:
        return redirect(f"{reverse('history')}?{request.GET.urlencode()}")
    player = request.player
    lines = csv_export.lines(every(player, form.search), get_language() or "en", is_remote=player.is_remote)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="sabot.csv"'
    return response


@player_required
@require_safe
def round_replay(request: PlayerRequest, round_id: UUID) -> HttpResponse:
    """One of the player's own rounds, dealt again from what was stored, and marked as a replay."""
    found = logs.round_of(request.player, round_id, get_language() or "en")
    if found is None:
        playing = logs.playing(request.player, get_language() or "en", round_id=round_id)
        if not playing:
            raise Http404
        return render(request, "games/round_playing.html", {"round": playing[0]})
    spots = logs.replay_spots(request.player, round_id, get_language() or "en") if found.view else ()
    context = {"round": found, "spots": spots}
    response = render(request, "games/round.html", context)
    unseen.remember(response, request, [round_id])
    return response
