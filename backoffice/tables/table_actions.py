"""Staff actions on a whole table: open, pause, resume, close.

Which are possible, and the resulting state.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from games.chemin.stop import continue_table
from games.incidents import unruled
from games.models import OPEN_PHASES, LiveTable, Status, Table
from games.tables import status
from wallet.models import Mode

FINISHED: Final = "A round in progress is completed and paid first; accepted bets remain valid."


@dataclass(frozen=True)
class TableAction:
    """Action on a table: its function, its label, and the state it leads to."""

    do: Callable[..., Table]  # called with table_id, reason and by
    label: str  # precedes the name of the table
    leads_to: Status
    what: str  # sentences next to its button


ACTIONS: Final[Mapping[str, TableAction]] = {
    "pause": TableAction(status.pause_table, "Pause", Status.PAUSED, f"{FINISHED} Players keep their seats."),
    "continue": TableAction(continue_table, "Resume", Status.OPEN, "The next round starts at once."),
    "open": TableAction(status.open_table, "Open", Status.OPEN, "Rounds start at once."),
    "close": TableAction(status.close_table, "Close", Status.CLOSED, f"{FINISHED} Players leave their seats."),
}
"""Actions by the name that forms submit."""

POSSIBLE: Final[Mapping[str, Sequence[str]]] = {
    Status.OPEN: ("pause", "close"),
    Status.PAUSED: ("continue", "close"),
    Status.CLOSED: ("open",),
}
WHILE_PLAYING: Final[Mapping[str, str]] = {
    Status.PAUSED: "is pausing: the round in progress is completed first",
    Status.CLOSED: "is closing: the round in progress is completed first",
}


def possible(table: Table) -> Mapping[str, TableAction]:
    """Return the actions possible in the table's current state, by name."""
    return {name: ACTIONS[name] for name in POSSIBLE[table.status]}


def stands(table: Table) -> str:
    """Return the table's current state as text.

    It says whether a round is still being finished, and names stops that these actions do not lift.
    """
    live_tables = list(LiveTable.objects.filter(table=table).select_related("round").order_by("-mode"))
    stopped = [each for each in live_tables if each.stopped_by_id]
    is_playing = any(
        each.round is not None and each.round.phase in OPEN_PHASES for each in live_tables if each not in stopped
    )
    words = WHILE_PLAYING.get(table.status) if is_playing else None
    said = f"{table.name} {words or f'is {table.get_status_display()}'}."
    for each in stopped:
        said += (
            f" For {Mode(each.mode).label.lower()} money it remains stopped by an incident"
            " until a supervisor resumes it."
        )
    return said


ROW: Final = re.compile(r"(live|solo)-[0-9]{1,18}")
"""The id of a row of the floor, which forms on the floor submit."""


def to_the_table(message: str, row: str) -> str | SafeString:
    """Return a message with a link to a row of the floor, if *row* is the id of one."""
    if not ROW.fullmatch(row):
        return message
    return format_html('{} <a href="{}#{}">View table</a>', message, reverse("staff_floor"), row)


def after_a_ruling(message: str, live_table_id: int) -> str | SafeString:
    """Return a message with what is left to do at a stopped live table, and a link to the table."""
    if not LiveTable.objects.filter(pk=live_table_id, stopped_by__isnull=False).exists():
        return to_the_table(message, f"live-{live_table_id}")
    waiting = unruled().filter(live_round__live_table=live_table_id).values_list("pk", flat=True)
    numbers = ", ".join(str(each) for each in waiting)
    left = f"still awaiting a ruling: incident {numbers}" if numbers else "resume it"
    return to_the_table(f"{message} The table is still stopped: {left}.", f"live-{live_table_id}")
