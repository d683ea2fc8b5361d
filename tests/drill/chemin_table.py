"""The Chemin de Fer table during a fault: its state, when it continued, and whether it deals coups."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from games.models import CheminCoup, CheminMove, CheminTable
from tests.drill import ticks


@dataclass(frozen=True)
class TableState:
    """State of the table at one moment."""

    phase: str  # the question asked or the event awaited
    move: int  # the number of the last move
    deadline: datetime | None  # until when somebody may answer; then a tick answers for them


class DrilledTable:
    """A Chemin de Fer table, by the number of its live table."""

    def __init__(self, live_table: int) -> None:
        self._pk = live_table

    def state(self) -> TableState:
        """Return the current state."""
        chemin = CheminTable.objects.get(pk=self._pk)
        return TableState(chemin.state["phase"], chemin.move, chemin.deadline)

    def changed_at(self, stood: TableState) -> datetime | None:
        """Return the time of the next move after that state, None if there is none yet."""
        after = CheminMove.objects.filter(live_table=self._pk, number__gt=stood.move).order_by("number").first()
        return after.at if after else None

    def in_vain(self, stood: TableState, recovered: datetime, lines: Iterable[str]) -> int:
        """Return the number of ticks after the deadline of its question that did not ask for the table."""
        changed = self.changed_at(stood)
        if stood.deadline is None or changed is None:
            return 0
        return ticks.read(lines, max(recovered, stood.deadline), ticks.CHEMIN).in_vain(self._pk, changed)

    def coups_since(self, moment: datetime | None) -> int:
        """Return the number of coups with cards settled at the table, after *moment* if it is given."""
        coups = CheminCoup.objects.filter(round__live_table=self._pk).exclude(outcome="")
        return (coups.filter(at__gt=moment) if moment else coups).count()
