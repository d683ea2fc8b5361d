"""How a table goes on that paused. At Chemin de Fer nobody loses the time of the pause."""

from django.db import transaction

from audit import log
from games.chemin.deadlines import ask_anew
from games.chemin.table_state import locked
from games.engine.chemin.frozen import UNREADABLE
from games.models import CheminSeat, LiveTable, Shape, Status, Table
from games.tables import clock, status
from games.tables.checks import TableError


def continue_table(*, table_id: int, reason: str, by: str) -> Table:
    """Let a table go on that pauses. Guests have all of their time again, whoever is asked and whoever is away.

    Raises NotFromHere where it is closed: it is opened; TableError where no reason is given or what the table stored
    cannot be read, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = status.locked(table_id), status.stated(reason)
        if status.move(table, Status.OPEN, of=(Status.PAUSED,)):
            for live_table in table.live.filter(table__shape=Shape.GUESTS).order_by("pk"):
                give_time_back(live_table)
            log.record("table.went_on", by=by, on=f"table:{table.pk}", data={"reason": why})
    return table


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
