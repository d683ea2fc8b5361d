"""Whether a table is open, pauses or is closed: what staff do to it, each time with a reason; how a table that pauses
goes on stands in `games.chemin.pause`. All of them let a round in
progress play to its end.

A table that pauses keeps everything for when it goes on: bets for Rebet, seats, banks and what is asked there. One that
is closed has its guests get up. It is the table that pauses, with every kind of money that it is played for.
"""

from collections.abc import Sequence

from django.db import transaction

from audit import log
from games.models import LiveTable, Status, Table
from games.tables import notify
from games.tables.checks import TableError
from games.variants import GAMES


class NotFromHere(TableError):
    """What is asked for does not follow from how the table stands: a closed one is opened, not let go on."""


def open_table(*, table_id: int, reason: str, by: str) -> Table:
    """Open a closed table. Doing it twice changes and records nothing, here and below.

    Raises NotFromHere where it pauses: it is let go on; TableError where no reason is given, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        if move(table, Status.OPEN, of=(Status.CLOSED,)):
            log.record("table.opened", by=by, on=f"table:{table.pk}", data={"reason": why})
    return table


def pause_table(*, table_id: int, reason: str, by: str) -> Table:
    """Have no further round begin at an open table until it goes on; what is in progress concludes, and nobody loses a
    seat, a bank or the time for an answer.

    Raises NotFromHere where it is closed, TableError where no reason is given, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        if move(table, Status.PAUSED, of=(Status.OPEN,)):
            log.record("table.paused", by=by, on=f"table:{table.pk}", data={"reason": why})
    return table


def close_table(*, table_id: int, reason: str, by: str) -> Table:
    """Close a table, open or pausing; what is in progress concludes (GLI-19 v3.0, 2.4.1).

    Raises TableError where no reason is given, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        before = table.status
        if move(table, Status.CLOSED, of=(Status.OPEN, Status.PAUSED)):
            log.record("table.closed", by=by, on=f"table:{table.pk}", data={"before": before, "reason": why})
    return table


@transaction.atomic
def close_tables(*, variant: str | None, reason: str, by: str) -> Sequence[Table]:
    """Close every table of a game that is not, None: of the whole house; what is in progress concludes (GLI-19 v3.0,
    2.4.1). Return those that were open or paused.

    Raises TableError where no reason is given or there is no such game.
    """
    why = stated(reason)
    if variant is not None and variant not in GAMES:
        raise TableError("The house has no such game.")
    found = Table.objects.exclude(status=Status.CLOSED).order_by("pk")
    if variant is not None:
        found = found.filter(variant=variant)
    return [close_table(table_id=table.pk, reason=why, by=by) for table in found]


def locked(table_id: int) -> Table:
    """Return a table that nobody begins a round at, or opens, pauses or closes, until the transaction ends.

    Locks its live tables, as everybody does who begins rounds there, then the table itself, which solo rounds share.
    Raises Table.DoesNotExist.
    """
    list(LiveTable.objects.filter(table=table_id).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    return Table.objects.select_for_update(no_key=True).get(pk=table_id)


def stated(reason: str) -> str:
    """Return a reason as it is kept. Raises TableError where none is given."""
    if not reason.strip():
        raise TableError("Say why: the reason is kept in the log.")
    return reason.strip()


def move(table: Table, to: Status, *, of: Sequence[Status]) -> bool:
    """Have the table stand so from now on, and tell its pages; say whether it did not before. Raises NotFromHere."""
    if table.status == to:
        return False
    if table.status not in of:
        raise NotFromHere(f"{table.name} is {table.get_status_display()}: that cannot be done from there.")
    table.status = to
    table.save(update_fields=["status"])
    for live_table_id in table.live.values_list("pk", flat=True):
        notify.tell(live_table_id)
    return True
