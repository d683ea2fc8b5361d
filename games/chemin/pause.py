"""Continue a paused table. At Chemin de Fer the pause does not count against players' time."""

from django.db import transaction

from audit import log
from games.chemin.deadlines import ask_anew
from games.chemin.table_state import locked
from games.engine.chemin.frozen import UNREADABLE
from games.models import CheminSeat, LiveTable, Shape, Status, Table
from games.tables import clock, status
from games.tables.checks import TableError


def continue_table(*, table_id: int, reason: str, by: str) -> Table:
    """Continue a paused table; players get their full time again, to decide and while away.

    Raises NotFromHere where the table is closed and must be opened instead, TableError where no
    reason is given or the stored state cannot be read, and Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = status.locked(table_id), status.stated(reason)
        if status.move(table, Status.OPEN, of=(Status.PAUSED,)):
            for live_table in table.live.filter(table__shape=Shape.GUESTS).order_by("pk"):
                give_time_back(live_table)
            log.record("table.went_on", by=by, on=f"table:{table.pk}", data={"reason": why})
    return table


def give_time_back(live_table: LiveTable) -> None:
    """Restart the time of a question between two coups, and the time for which away players keep their seats.

    A coup that was played on during the pause keeps its deadline. Raises TableError where the
    stored state cannot be read.
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
