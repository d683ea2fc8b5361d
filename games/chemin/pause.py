"""Time at a guests' table that paused: none of it was a guest's."""

from games.chemin.deadlines import ask_anew
from games.chemin.table_state import locked
from games.engine.chemin.frozen import UNREADABLE
from games.models import CheminSeat, LiveTable
from games.tables import clock
from games.tables.checks import TableError


def give_time_back(live_table: LiveTable) -> None:
    """Ask whoever is asked between two coups with all of the time again, and keep the places of those who are away for
    as long as if they had just stepped away. A coup that is played on meanwhile has its time already.

    Raises TableError where the table cannot say who is asked.
    """
    try:
        standing = locked(live_table.pk, blind=True)
    except UNREADABLE as error:
        raise TableError(f"What {live_table.table} stored cannot be read: it has to be broken up.") from error
    CheminSeat.objects.filter(live_table=live_table, left_at=None, away_since__isnull=False).update(
        away_since=clock.now()
    )
    if not standing.in_coup:
        ask_anew(standing)
