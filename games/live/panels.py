"""The panels beside a live table that are asked for when they are opened: nothing in them leaves the table or moves a
bet.
"""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.entrance import at_a_playable_table
from games.live.side import WITH_THE_PAGE, panel_names
from games.models import Shape, Table
from players.access import PlayerRequest, player_required
from wallet.models import Mode


@player_required
@require_safe
@never_cache
def live_panel(request: PlayerRequest, slug: str, mode: Mode, name: str) -> HttpResponse:
    """What stands in a panel, as a fragment."""

    @at_a_playable_table
    def panel(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
        if found.shape != Shape.SHARED or name in WITH_THE_PAGE or name not in panel_names(found):
            raise Http404
        return render(request, f"games/_panel_{name}.html", {"table": found, "now_mode": mode})

    return panel(request, slug, mode)
