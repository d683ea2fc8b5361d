"""The stream of pages that show no table: it carries only messages to all players."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.shared import stream_tokens
from players.access import PlayerRequest, made_by_the_page, player_required, session_id


def stream_of(request: PlayerRequest) -> str:
    """Return the address of the page's stream; empty where the reader has no log-in session."""
    player, session = request.player, session_id(request)
    if session is None:
        return ""
    ticket = stream_tokens.house_ticket(player.pk, session, get_language() or "en", jurisdiction=player.jurisdiction_id)
    return stream_tokens.issue(ticket, request.session.session_key)


@made_by_the_page
@player_required
@require_safe
@never_cache
def house_now(request: PlayerRequest) -> HttpResponse:
    """Return the current messages to all players, and a ticket for a stream."""
    return render(request, "games/_house_now.html", {"stream": stream_of(request)})
