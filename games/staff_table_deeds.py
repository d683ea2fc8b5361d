"""What staff do with a table as a whole, and what of it is possible as the table stands. In English, like all of the
back office.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from games import table_status
from games.models import Status, Table


@dataclass(frozen=True)
class Deed:
    """One of them: what does it, under which label, and how the table stands then."""

    do: Callable[..., Table]  # with table_id, reason and by
    label: str  # before the name of the table
    leads_to: Status


DEEDS: Final[Mapping[str, Deed]] = {
    "pause": Deed(table_status.pause_table, "Pause", Status.PAUSED),
    "continue": Deed(table_status.continue_table, "Go on with", Status.OPEN),
    "open": Deed(table_status.open_table, "Open", Status.OPEN),
    "close": Deed(table_status.close_table, "Close", Status.CLOSED),
}
"""By the name that a form sends."""

POSSIBLE: Final[Mapping[str, Sequence[str]]] = {
    Status.OPEN: ("pause", "close"),
    Status.PAUSED: ("continue", "close"),
    Status.CLOSED: ("open",),
}


def possible(table: Table) -> Mapping[str, Deed]:
    """Return what can be done with a table as it stands, by name."""
    return {name: DEEDS[name] for name in POSSIBLE[table.status]}
