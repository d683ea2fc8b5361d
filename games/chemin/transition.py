"""One action that a table was taken through: what it was before, what happened, and what it is now."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from games.chemin.table_state import Standing
from games.engine.chemin.actions import Action, AskCroupier, TableAction, TimeUp
from games.engine.chemin.events import Event
from games.engine.chemin.machine import default_action
from games.engine.chemin.phases import IN_COUP
from games.engine.chemin.state import State
from games.models import Decider, WhyLeft

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Moved:
    """What an action has done. Rows and money follow from it."""

    before: Standing
    action: Action
    state: State = field(repr=False)
    events: tuple[Event, ...]
    number: int
    at: datetime
    decider: Decider
    why: WhyLeft = WhyLeft.WISH
    """Why whoever gets up in it does, unless they have said so before."""

    @property
    def decision(self) -> Action:
        """What was decided: where the time was up, what the croupier decided by the rule."""
        if isinstance(self.action, TimeUp):
            return default_action(self.before.state) or self.action
        return self.action

    @property
    def place(self) -> int | None:
        """Whose decision it was; None where the house acts for nobody."""
        return getattr(self.decision, "seat", None)

    @property
    def answers(self) -> bool:
        """Whether the question that was asked is answered with it."""
        return isinstance(self.decision, TableAction) and not isinstance(self.decision, AskCroupier)

    @property
    def asks_anew(self) -> bool:
        """Whether another question is asked now than before."""
        before = self.before.state
        return self.answers or (before.phase, before.turn) != (self.state.phase, self.state.turn)

    @property
    def in_coup(self) -> bool:
        """Whether a coup is being played now."""
        return self.state.phase in IN_COUP

    def first(self, kind: type[E]) -> E | None:
        """Return the first event of a kind, if there was one."""
        return next((event for event in self.events if isinstance(event, kind)), None)
