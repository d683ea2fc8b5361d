"""Open, pause and close tables, each time with a reason. `games.chemin.stop` resumes a paused
table.

Every action lets a round in progress finish. A paused table keeps everything for when it resumes:
bets for Rebet, seats, banks and open questions. At a closed table, Chemin de Fer players leave
their seats. A pause applies to the table in every mode.
"""

from collections.abc import Sequence

from django.db import transaction

from audit import log
from games.models import LiveTable, Status, Table
from games.tables import notify
from games.tables.checks import TableError
from games.variants import GAMES


class NotFromHere(TableError):
    """An action that does not apply to the table state: a closed table is opened, not resumed."""


def open_table(*, table_id: int, reason: str, by: str) -> Table:
    """Open a closed table. Idempotent, like the functions below.

    Raises NotFromHere if it is paused (it is resumed instead); TableError without a reason,
    Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        if move(table, Status.OPEN, of=(Status.CLOSED,)):
            log.record("table.opened", by=by, on=f"table:{table.pk}", data={"reason": why})
    return table


def pause_table(*, table_id: int, reason: str, by: str) -> Table:
    """Pause an open table: no new round begins until it resumes.

    The round in progress finishes, and nobody loses a seat, a bank or the time for an answer.
    Raises NotFromHere if it is closed, TableError without a reason, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        if move(table, Status.PAUSED, of=(Status.OPEN,)):
            log.record("table.paused", by=by, on=f"table:{table.pk}", data={"reason": why})
    return table


def close_table(*, table_id: int, reason: str, by: str) -> Table:
    """Close an open or paused table; the round in progress finishes (GLI-19 v3.0, 2.4.1).

    Raises TableError without a reason, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        before = table.status
        if move(table, Status.CLOSED, of=(Status.OPEN, Status.PAUSED)):
            log.record("table.closed", by=by, on=f"table:{table.pk}", data={"before": before, "reason": why})
    return table


@transaction.atomic
def close_tables(*, variant: str | None, reason: str, by: str) -> Sequence[Table]:
    """Close every table of a game, or of the whole house if None; rounds in progress finish (GLI-19
    v3.0, 2.4.1).

    Returns those that were open or paused. Raises TableError without a reason or for an unknown
    game.
    """
    why = stated(reason)
    if variant is not None and variant not in GAMES:
        raise TableError("Unknown game.")
    found = Table.objects.exclude(status=Status.CLOSED).order_by("pk")
    if variant is not None:
        found = found.filter(variant=variant)
    return [close_table(table_id=table.pk, reason=why, by=by) for table in found]


def locked(table_id: int) -> Table:
    """Lock a table: no round begins and its state does not change until the transaction ends.

    Locks its live tables, as every round does there, then the table itself, which solo rounds
    share. Raises Table.DoesNotExist.
    """
    list(LiveTable.objects.filter(table=table_id).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    return Table.objects.select_for_update(no_key=True).get(pk=table_id)


def stated(reason: str) -> str:
    """Return the stripped reason. Raises TableError if it is empty."""
    if not reason.strip():
        raise TableError("Enter a reason. It is recorded in the audit log.")
    return reason.strip()


def move(table: Table, to: Status, *, of: Sequence[Status]) -> bool:
    """Change the table state and notify its pages; return whether it changed. Raises NotFromHere."""
    if table.status == to:
        return False
    if table.status not in of:
        raise NotFromHere(f"{table.name} is {table.get_status_display()}. This action is not possible in this state.")
    table.status = to
    table.save(update_fields=["status"])
    for live_table_id in table.live.values_list("pk", flat=True):
        notify.notify_table(live_table_id)
    return True
