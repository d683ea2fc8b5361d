"""Profile of one player: the sections that the reader's role may see, and the actions.

It combines data of games, wallet and players.
"""

from typing import Final

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from backoffice.players import actions
from backoffice.players.facts import summaries
from backoffice.players.sections import sections
from players.access import StaffRequest, staff_required
from players.models import Player
from players.search import SEE
from players.staff import access_log

# The access log entry lists the sections. Players can read it in their own data, so it must not
# reveal AML alerts.
NOT_LOGGED: Final = "watches"


@staff_required(SEE)
@require_safe
def staff_player(request: StaffRequest, player_id: int) -> HttpResponse:
    """Show a player's profile."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    shown = sections(player, request.user)
    access_log.note(request, player, what=", ".join(each.anchor for each, _ in shown if each.anchor != NOT_LOGGED))
    context = {
        "subject": player,  # "player" would be the player whose balance the header shows
        "summary": summaries([player.pk], request.user)[player.pk],
        "sections": shown,
    } | actions.context(request, player)
    others = access_log.players_in([data for _, data in shown]) - {player.pk}
    access_log.note_list(request, others, what="named on another player’s page")
    return render(request, "staff/player.html", context)
