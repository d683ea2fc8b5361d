"""View of a player's own statistics at a shared table: a page, or its inner part for the side panel."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.models import LiveTable, Table
from games.shared.statistics import Since, statistics_view
from games.tables.access import at_a_shared_table
from players.access import PlayerRequest, made_by_the_page, player_required
from wallet.models import Mode


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_shared_table
def live_statistics(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show the player's statistics for the requested period; for the present shoe by default."""
    live = get_object_or_404(LiveTable, table=found, mode=mode)
    live.table = found
    asked = request.GET.get("since", "")
    since = Since(asked) if asked in Since.__members__.values() else Since.SHOE
    context = {
        "table": found,
        "now_mode": mode,
        "address": reverse("live_statistics", args=[found.slug, mode]),
        "own": statistics_view(request.player, live, since, get_language() or "en"),
    }
    return render(request, "games/_statistics.html" if request.htmx else "games/statistics.html", context)
