"""A move of a table: the state before it, its events, and the state after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from games.chemin.state.table_state import TableState
from games.dealer.client import CardsDealt
from games.engine.chemin.actions import Action, AskCroupier, TableAction, TimeUp
from games.engine.chemin.events import Event
from games.engine.chemin.machine import default_action
from games.engine.chemin.state import State
from games.engine.chemin.steps.phases import IN_COUP
from games.models import Decider, WhyLeft

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Transition:
    """The result of an action. Rows and money follow from it."""

    before: TableState
    action: Action
    state: State = field(repr=False)
    events: tuple[Event, ...]
    number: int
    at: datetime
    decider: Decider
    dealt: CardsDealt | None = field(default=None, repr=False)
    """The cards that left the shoe in this move."""
    why: WhyLeft = WhyLeft.WISH
    """The reason recorded for a player who leaves in this move, unless they asked to leave before."""

    @property
    def decision(self) -> Action:
        """The decision; after an expired deadline, the one the croupier took by the rule."""
        if isinstance(self.action, TimeUp):
            return default_action(self.before.state) or self.action
        return self.action

    @property
    def seat_number(self) -> int | None:
        """The seat of the decision; None where the house acts for nobody."""
        return getattr(self.decision, "seat", None)

    @property
    def answers(self) -> bool:
        """Whether the decision answers the pending question."""
        return isinstance(self.decision, TableAction) and not isinstance(self.decision, AskCroupier)

    @property
    def asks_new_question(self) -> bool:
        """Whether another question is pending now than before."""
        before = self.before.state
        return self.answers or (before.phase, before.turn) != (self.state.phase, self.state.turn)

    @property
    def in_coup(self) -> bool:
        """Whether a coup is in progress now."""
        return self.state.phase in IN_COUP

    def first(self, kind: type[E]) -> E | None:
        """Return the first event of a kind, or None."""
        return next((event for event in self.events if isinstance(event, kind)), None)
