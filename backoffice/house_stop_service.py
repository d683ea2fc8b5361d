"""The whole house is stopped and goes on (`wallet.house_stop`), with what its tables show then, and whom they ask.

To its players every open table is one that pauses: the next round does not begin, seats, banks and bets for Rebet stay.
"""

from contextlib import suppress

from django.db import transaction

from games.chemin.pause import give_time_back
from games.models import LiveTable, Shape
from games.tables import notify
from games.tables.checks import TableError
from players.models import Staff
from wallet import house_stop
from wallet.models import HouseStop


@transaction.atomic
def stop(*, reason: str, by: Staff) -> HouseStop:
    """Stop the whole house, and have every table say so. Raises StopError."""
    stopped = house_stop.stop_house(reason=reason, by=by)
    _tell()
    return stopped


@transaction.atomic
def resume(*, reason: str, by: Staff) -> HouseStop:
    """Let the house go on, and return the stop that ended. Guests have all of their time again, whoever is asked and
    whoever is away; a table that cannot say whom it asks keeps nobody else waiting. Raises StopError.
    """
    ended = house_stop.resume_house(reason=reason, by=by)
    for live_table in LiveTable.objects.filter(table__shape=Shape.GUESTS).select_related("table").order_by("pk"):
        with suppress(TableError):
            give_time_back(live_table)
    _tell()
    return ended


def _tell() -> None:
    for live_table_id in LiveTable.objects.values_list("pk", flat=True):
        notify.tell(live_table_id)
