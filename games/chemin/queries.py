"""What pages and streams know of a Chemin de Fer table at one moment, and of one player there.

The state of the engine is the croupier's secret: `games.chemin.board` shows of it what `view` allows, and nothing here
is printed with its cards.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from games.engine.chemin import Outcome, State
from games.engine.chemin.events import Event
from games.engine.chemin.phases import IN_COUP
from games.models import Decider, VoidReason
from games.tables.chemin_rules import GuestClock, GuestRules
from wallet.models import Mode


@dataclass(frozen=True)
class Guest:
    """Who sits at a place."""

    number: int
    seat_id: int  # the row of a `CheminSeat`: this guest's, whoever sits there later
    player: int | None  # None: played by the house
    name: str  # the chat name; "" where the guest has none
    away_since: datetime | None


@dataclass(frozen=True)
class Move:
    """Something that was done at the table, and what came of it."""

    number: int
    at: datetime
    round: UUID | None  # of the coup that it belongs to
    code: str  # of that coup
    seat: int | None  # the place; None where the house acts
    kind: str  # the action of the engine, as "make_call"
    decider: Decider
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Shoe:
    """The shoe on the table."""

    id: UUID
    number: int
    commitment: str
    is_spent: bool


@dataclass(frozen=True)
class Past:
    """How a coup ended that is over."""

    round: UUID
    code: str
    outcome: Outcome | None  # None: it was annulled
    punter_total: int | None
    banker_total: int | None


@dataclass(frozen=True)
class Seen:
    """A table at the moment *now*, by the database's clock. Amounts are minor units of the table's currency."""

    now: datetime
    live_table: int
    mode: Mode
    slug: str
    name: str
    is_open: bool  # and this program plays the rules it was put live with
    is_paused: bool  # and would play on
    is_stopped: bool
    is_house_stopped: bool
    rules: GuestRules
    clock: GuestClock | None
    standing: State = field(repr=False)
    guests: tuple[Guest, ...]
    move: int
    question: int
    asked_at: datetime | None
    deadline: datetime | None
    round: UUID | None  # the latest coup
    code: str
    annulled: VoidReason | None  # that coup
    shoe: Shoe | None
    spent_shoe: UUID | None  # the one before, or this one, whose seed is public
    spent_number: int | None
    moves: tuple[Move, ...]  # the latest ones, oldest first
    past: tuple[Past, ...]  # the latest coups that are over, oldest first

    @property
    def waits(self) -> bool:
        """Whether the table stands between two coups because it pauses: nobody is asked anything."""
        return self.is_paused and self.standing.phase not in IN_COUP

    @property
    def is_halted(self) -> bool:
        """Whether it stands so because the whole house is stopped."""
        return self.waits and self.is_house_stopped and not self.is_stopped

    def at(self, moment: datetime) -> Seen:
        """Return the same table at a later moment, if nothing has happened to it."""
        return replace(self, now=moment)

    def next_change(self, now: datetime) -> float | None:
        """Return in how many seconds something changes without a move: never."""
        return None

    def guest(self, number: int) -> Guest | None:
        """Return who sits at a place, if anybody does."""
        return next((guest for guest in self.guests if guest.number == number), None)


@dataclass(frozen=True)
class Played:
    """What the table's latest coup came to for a player who had a part in it. Minor units."""

    round: UUID
    code: str
    staked: int
    paid: int
    is_annulled: bool


@dataclass(frozen=True)
class Own:
    """A player at the table, seated or not."""

    player: int
    seat: int | None  # the place
    missed: int  # decisions in a row that the croupier took
    away_since: datetime | None
    currency: str  # the player's
    funds: int | None  # what may be put down, in minor units; None where the player has nothing in the table's currency
    zone: str
    net: int | None  # of the session, in minor units
    last: Played | None
