"""The Chemin de Fer table during a fault: its state, when it continued, and whether it deals coups."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from games.models import CheminCoup, CheminMove, CheminTable
from tests.drill import ticks


@dataclass(frozen=True)
class TableState:
    """At one moment."""

    phase: str  # what is asked or waited for
    move: int  # what was done last
    deadline: datetime | None  # until when somebody may answer; then a tick answers for them


class DrilledTable:
    """One, by the number of its live table."""

    def __init__(self, live_table: int) -> None:
        self._pk = live_table

    def state(self) -> TableState:
        """Return how it stands now."""
        chemin = CheminTable.objects.get(pk=self._pk)
        return TableState(chemin.state["phase"], chemin.move, chemin.deadline)

    def changed_at(self, stood: TableState) -> datetime | None:
        """Return when something was done after that, None while nothing was."""
        after = CheminMove.objects.filter(live_table=self._pk, number__gt=stood.move).order_by("number").first()
        return after.at if after else None

    def in_vain(self, stood: TableState, recovered: datetime, lines: Iterable[str]) -> int:
        """How many ticks there were, once the question that it stood at was due, which did not ask for the table."""
        changed = self.changed_at(stood)
        if stood.deadline is None or changed is None:
            return 0
        return ticks.read(lines, max(recovered, stood.deadline), ticks.CHEMIN).in_vain(self._pk, changed)

    def coups_since(self, moment: datetime | None) -> int:
        """How many coups with cards were settled at the table, after that moment where one is given."""
        coups = CheminCoup.objects.filter(round__live_table=self._pk).exclude(outcome="")
        return (coups.filter(at__gt=moment) if moment else coups).count()
