"""The house stop at the tables: stop all play and deposits (`wallet.house_stop`), resume them, and
notify every table.

Every open table is paused for its players: the next round does not begin; seats, banks and bets for
Rebet stay.
"""

from contextlib import suppress

from django.db import transaction

from games.chemin.stop import give_time_back
from games.models import LiveTable, Shape
from games.tables import notify
from games.tables.checks import TableError
from players.models import Staff
from wallet import house_stop
from wallet.models import HouseStop


@transaction.atomic
def stop(*, reason: str, by: Staff) -> HouseStop:
    """Start the house stop and notify every table. Raises StopError."""
    stopped = house_stop.stop_house(reason=reason, by=by)
    _notify_tables()
    return stopped


@transaction.atomic
def resume(*, reason: str, by: Staff) -> HouseStop:
    """End the house stop and return it.

    Raises StopError.

    Players at Chemin de Fer get their full time again, away or not. A table that cannot give time
    back (TableError) does not hold up the others.
    """
    ended = house_stop.resume_house(reason=reason, by=by)
    for live_table in LiveTable.objects.filter(table__shape=Shape.CHEMIN).select_related("table").order_by("pk"):
        with suppress(TableError):
            give_time_back(live_table)
    _notify_tables()
    return ended


def _notify_tables() -> None:
    for live_table_id in LiveTable.objects.values_list("pk", flat=True):
        notify.notify_table(live_table_id)
