"""The page of a table. Each shape of table has its own page."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from games.chemin.views import chemin_page
from games.models import Shape, Table
from games.shared.views import live_page
from games.solo.views import solo_page
from games.tables.access import at_a_playable_table
from players.access import PlayerRequest, player_required
from wallet.models import Mode

PAGES = {Shape.SOLO: solo_page, Shape.SHARED: live_page, Shape.CHEMIN: chemin_page}


@player_required
@require_safe
@at_a_playable_table
def table(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show the page of a table, or the reason why the player may not play."""
    return PAGES[Shape(found.shape)](request, found, mode)
