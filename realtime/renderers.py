"""What a live table shows, to people and to programs, and how it is read, by the table's shape. Everything else about
streams is one for all.
"""

from collections.abc import Hashable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Protocol, Self

from games.api import chemin_schema, shared_schema
from games.chemin import rendering as guests
from games.models import Shape
from games.shared import rendering as shared


class Shown(Protocol):
    """A table as everybody sees it at one moment, by the database's clock."""

    @property
    def now(self) -> datetime:
        """The moment."""

    def at(self, moment: datetime) -> Self:
        """The same table at a later moment, if nothing has happened to it."""

    def next_change(self, now: datetime) -> float | None:
        """In how many seconds after *now* it shows something else without anything being written, or None."""


class Show(Protocol):
    """What a module that shows tables of one shape has. A *state* is what its `public_state` returns."""

    READ_PUBLIC: str
    """The query for what everybody sees. Parameter: the live table."""
    READ_OWN: str
    """The query for what is players' own: rows with `player` in them. Parameters: the live table, a list of players."""

    def public_state(self, row: Mapping[str, Any]) -> Shown:
        """Read a row of `READ_PUBLIC`. Raises whatever a row that cannot be understood raises."""

    def own_key(self, state: Any) -> Hashable:
        """What is another one when players may find something else in their own part."""

    def board_key(self, state: Any) -> Hashable:
        """What is another one when the board shows something else."""

    def render_public(self, state: Any, language: str) -> str:
        """Return ``#live-public``."""

    def render_own(self, state: Any, row: Mapping[str, Any], language: str) -> str:
        """Return ``#live-own`` of the player of a row of `READ_OWN`."""

    def render_board(self, state: Any, language: str) -> str:
        """Return ``#live-board``."""


SHOWS: Final[Mapping[Shape, Show]] = MappingProxyType({Shape.SHARED: shared, Shape.GUESTS: guests})
"""Every shape of table that has streams."""


class Wire(Protocol):
    """The same for programs: what a module has that tells of tables of one shape, as plain values that JSON has."""

    def public(self, state: Any) -> Mapping[str, Any]:
        """The table as everybody sees it at the moment of *state*."""

    def own(self, state: Any, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is the own of the player of a row of `READ_OWN`."""

    def over(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """A round that is over, of a row of `games.api.rounds_schema.READ_OVER`."""


WIRES: Final[Mapping[Shape, Wire]] = MappingProxyType({Shape.SHARED: shared_schema, Shape.GUESTS: chemin_schema})
