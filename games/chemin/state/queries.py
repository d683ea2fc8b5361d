"""Data classes of a Chemin de Fer table and of one player there, at one moment.

The engine's state includes face-down cards. `games.chemin.pages.board` shows only what `view` allows, and
the state is left out of `repr`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from games.engine.chemin import Outcome, Phase, State
from games.engine.chemin.events import Event
from games.engine.chemin.steps.phases import IN_COUP
from games.models import Decider, VoidReason
from games.shared.state import LATE, Cut, Shoe
from games.tables.chemin_rules import CheminClock, CheminRules
from wallet.models import Mode

AWAITS_CARDS: Final = frozenset({Phase.CARDS, Phase.PUNTER, Phase.BANKER})
"""The phases that take cards, or the dealer's proof of them, when their time is up."""


@dataclass(frozen=True)
class SeatedPlayer:
    """The player at a seat."""

    number: int
    seat_id: int  # id of the `CheminSeat` row, which belongs to this stay only
    player: int | None  # None: a house player
    name: str  # the chat name; "" where the player has none
    away_since: datetime | None


@dataclass(frozen=True)
class Move:
    """A move at the table and its events."""

    number: int
    at: datetime
    round: UUID | None  # of the coup it belongs to
    code: str  # of that coup
    seat: int | None  # None where the house acts
    kind: str  # name of the engine's action, such as "make_call"
    decider: Decider
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Past:
    """The result of a finished coup."""

    round: UUID
    code: str
    outcome: Outcome | None  # None: the coup is void
    punter_total: int | None
    banker_total: int | None


@dataclass(frozen=True)
class PublicTable:
    """A table at the moment *now* of the database's clock. Amounts in minor units of the table's currency."""

    now: datetime
    live_table: int
    mode: Mode
    slug: str
    name: str
    is_open: bool  # and this version of the code has the table's rules
    is_paused: bool  # and the table would otherwise be open
    is_stopped: bool
    is_house_stopped: bool
    rules: CheminRules
    clock: CheminClock | None
    table_state: State = field(repr=False)
    seated_players: tuple[SeatedPlayer, ...]
    move: int
    question: int
    asked_at: datetime | None
    deadline: datetime | None
    round: UUID | None  # the latest coup
    code: str
    voided: VoidReason | None  # of that coup
    shoe: Shoe | None
    spent_shoe: UUID | None  # the latest shoe, this or the one before, whose seed is public
    spent_number: int | None
    cut: Cut | None  # the next shoe, before it is on the table
    moves: tuple[Move, ...]  # the latest moves, oldest first
    past: tuple[Past, ...]  # the latest finished coups, oldest first

    @property
    def waits(self) -> bool:
        """True if the table is paused between two coups, so that nobody is asked."""
        return self.is_paused and self.table_state.phase not in IN_COUP

    @property
    def is_halted(self) -> bool:
        """True if the table is paused because of a house stop."""
        return self.waits and self.is_house_stopped and not self.is_stopped

    @property
    def is_cutting(self) -> bool:
        """True if players are cutting the shoe that the coup waits for."""
        is_waiting = self.table_state.phase is Phase.SHOE and not self.is_stopped and not self.waits
        return self.cut is not None and is_waiting

    def at(self, moment: datetime) -> PublicTable:
        """Return the state at a later moment, if nothing else has changed."""
        return replace(self, now=moment)

    @property
    def late_from(self) -> datetime | None:
        """The time from which the table is late if nothing happens; None where only players are waited for."""
        if self.cut is not None and self.is_cutting:
            return self.cut.ends_at + LATE
        is_due = self.table_state.phase in AWAITS_CARDS and not self.is_stopped
        return self.deadline + LATE if is_due and self.deadline else None

    @property
    def is_late(self) -> bool:
        """True if cards are overdue: the dealer does not answer, or no worker advances the table."""
        return self.late_from is not None and self.late_from < self.now

    def next_change(self, now: datetime) -> float | None:
        """Return the seconds from *now* until the table is late; None where nothing changes without a move."""
        if self.late_from is None or self.at(now).is_late:
            return None
        return max(0.0, (self.late_from - now).total_seconds())

    def seated_player(self, number: int) -> SeatedPlayer | None:
        """Return the player at a seat, or None."""
        return next((seated_player for seated_player in self.seated_players if seated_player.number == number), None)


@dataclass(frozen=True)
class Played:
    """A player's result in the table's latest coup. Minor units."""

    round: UUID
    code: str
    staked: int
    paid: int
    is_void: bool


@dataclass(frozen=True)
class Own:
    """A player at the table, seated or not."""

    player: int
    seat: int | None  # number of the seat
    missed: int  # decisions in a row that the croupier took for the player
    away_since: datetime | None
    currency: str  # of the player
    funds: int | None  # available balance in minor units; None where the player has no money in the table's currency
    zone: str
    net: int | None  # of the session, in minor units
    last: Played | None
