"""Renderers by table shape: how a live table is read and rendered, for pages and for API clients.
All other stream code is the same for every shape.
"""

from collections.abc import Hashable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Protocol, Self

from games.api import chemin_schema, shared_schema
from games.chemin import rendering as guests
from games.models import Shape
from games.shared import rendering as shared
from games.tables.fragments import Parts


class Shown(Protocol):
    """The public state of a table at one time of the database's clock."""

    @property
    def now(self) -> datetime:
        """The time of this state."""

    def at(self, moment: datetime) -> Self:
        """Return the state at a later time, provided that nothing was written since."""

    def next_change(self, now: datetime) -> float | None:
        """Return the seconds after *now* until the state changes without a write, or None."""


class Show(Protocol):
    """Interface of a page renderer for one shape. *state* is the return value of `public_state`."""

    READ_PUBLIC: str
    """Query for the public state. Parameter: the live table."""
    READ_OWN: str
    """Query for the players' own state: rows with a `player` column. Parameters: the live table, a
    list of players.
    """

    def public_state(self, row: Mapping[str, Any]) -> Shown:
        """Parse a row of `READ_PUBLIC`. Raises any exception for a row that cannot be parsed."""

    def own_key(self, state: Any) -> Hashable:
        """Return a key that changes when the players' own fragments may change."""

    def board_key(self, state: Any) -> Hashable:
        """Return a key that changes when the scoreboard changes."""

    def render_public(self, state: Any, language: str) -> Parts:
        """Return ``#live-public``."""

    def render_own(self, state: Any, row: Mapping[str, Any], language: str) -> Parts:
        """Return ``#live-own`` for the player of a row of `READ_OWN`."""

    def render_board(self, state: Any, language: str) -> str:
        """Return ``#live-board``."""


SHOWS: Final[Mapping[Shape, Show]] = MappingProxyType({Shape.SHARED: shared, Shape.CHEMIN: guests})
"""Page renderers of every shape that has streams."""


class Wire(Protocol):
    """Interface of an API serializer for one shape; it returns values that can be written as JSON."""

    def public(self, state: Any) -> Mapping[str, Any]:
        """Return the public state of the table."""

    def own(self, state: Any, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the own state of the player of a row of `READ_OWN`."""

    def over(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a finished round from a row of `games.api.rounds_schema.READ_OVER`."""


WIRES: Final[Mapping[Shape, Wire]] = MappingProxyType({Shape.SHARED: shared_schema, Shape.CHEMIN: chemin_schema})
