"""Steps of the state machine and how they are chained."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from games.engine.chemin.events import Event
from games.engine.chemin.state import State


class Step(NamedTuple):
    """The state after a change, and the events of the change."""

    state: State
    events: tuple[Event, ...] = ()

    def then(self, follow: Callable[[State], Step]) -> Step:
        """Return this step followed by the step that *follow* makes from its state."""
        after = follow(self.state)
        return Step(after.state, self.events + after.events)
