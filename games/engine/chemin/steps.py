"""How changes are strung together: each rule gives a step, and steps follow one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from games.engine.chemin.events import Event
from games.engine.chemin.state import State


class Step(NamedTuple):
    """The state after a change and what happened on the way."""

    state: State
    events: tuple[Event, ...] = ()

    def then(self, follow: Callable[[State], Step]) -> Step:
        """This step and the one that follows from where it leads."""
        after = follow(self.state)
        return Step(after.state, self.events + after.events)
