"""Open, pause and close tables, each time with a reason. `games.chemin.stop` resumes a paused
table.

Every action lets a round in progress finish. A paused table keeps everything for when it resumes:
bets for Rebet, seats, banks and open questions. At a closed table, Chemin de Fer players leave
their seats. A pause applies to the table in every mode.
"""

from collections.abc import Sequence
from typing import Final

from django.db import connection, transaction
from django.utils.translation import gettext

from audit import log
from audit.log import Json
from audit.raw_rows import named_errors
from games.models import LiveTable, Status, Table
from games.tables.checks import TableError
from games.variants import GAMES
from players import notify

EVENTS: Final = {
    (Status.CLOSED, Status.OPEN): "table.opened",
    (Status.PAUSED, Status.OPEN): "table.went_on",
    (Status.OPEN, Status.PAUSED): "table.paused",
    (Status.OPEN, Status.CLOSED): "table.closed",
    (Status.PAUSED, Status.CLOSED): "table.closed",
}
"""The event of each change, by the status before and after it."""


class NotFromHere(TableError):
    """An action that does not apply to the table state: a closed table is opened, not resumed."""


def open_table(*, table_id: int, reason: str, by: str) -> Table:
    """Open a closed table. Idempotent, like the functions below.

    Raises NotFromHere if it is paused (it is resumed instead); TableError without a reason,
    Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        move(table, Status.OPEN, of=(Status.CLOSED,), reason=why, by=by)
    return table


def pause_table(*, table_id: int, reason: str, by: str) -> Table:
    """Pause an open table: no new round begins until it resumes.

    The round in progress finishes, and nobody loses a seat, a bank or the time for an answer.
    Raises NotFromHere if it is closed, TableError without a reason, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        move(table, Status.PAUSED, of=(Status.OPEN,), reason=why, by=by)
    return table


def close_table(*, table_id: int, reason: str, by: str) -> Table:
    """Close an open or paused table; the round in progress finishes (GLI-19 v3.0, 2.4.1).

    Raises TableError without a reason, Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = locked(table_id), stated(reason)
        move(table, Status.CLOSED, of=(Status.OPEN, Status.PAUSED), reason=why, by=by)
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
        raise TableError(gettext("Unknown game."))
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
        raise TableError(gettext("Enter a reason. It is recorded in the audit log."))
    return reason.strip()


def move(table: Table, to: Status, *, of: Sequence[Status], reason: str, by: str) -> None:
    """Change the table state, record it and notify the table's pages; do nothing in that state. Raises NotFromHere."""
    if table.status == to:
        return
    if table.status not in of:
        raise NotFromHere(
            gettext("%(table)s is %(status)s. This action is not possible in this state.")
            % {"table": table.name, "status": table.get_status_display()}
        )
    data: dict[str, Json] = {"reason": reason}
    if to is Status.CLOSED:
        data["before"] = table.status
    event = log.event(EVENTS[Status(table.status), to], by=by, on=f"table:{table.pk}", data=data)
    with named_errors({"SB142": NotFromHere}), connection.cursor() as cursor:
        cursor.execute("SELECT games_set_table_status(%s, %s, %s, %s)", [table.pk, to.value, by, event.rest])
    table.status = to
    for live_table_id in table.live.values_list("pk", flat=True):
        notify.notify_table(live_table_id)
