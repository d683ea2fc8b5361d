"""The table at one moment: seats, bank, stakes, hands, shoe. Immutable; every change is a new state.

A state holds the cards still to come and the ones that lie face down. It is the croupier's secret: what anyone may
see of it is `view`, and those cards are left out of every printed form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TypeVar

from games.engine.cards import Card
from games.engine.chemin.refusals import Refusal, Refused
from games.engine.chemin.rules import CUT_CARD, Call, Outcome, Side, TableRules
from games.engine.coup import total
from games.engine.tableau import NATURALS

T = TypeVar("T")


class WrongPhase(RuntimeError):
    """A part of the state was asked for that its phase does not have: a fault of the program, not of a guest."""


class Phase(StrEnum):
    """What the table is waiting for."""

    GUESTS = "guests"
    """A second guest."""
    FREE = "free"
    """Anyone to open: all refused the bank."""
    OFFER = "offer"
    """A seat to take the bank, at the minimum or more, or to let it pass."""
    SUITE = "suite"
    """A seat to take the bank over at its full amount."""
    AUCTION = "auction"
    """A seat to bid less than the full amount."""
    SHOE = "shoe"
    """The house to bring a new shoe."""
    CALLS = "calls"
    """A seat to call banco."""
    STAKES = "stakes"
    """A seat to stake."""
    CARDS = "cards"
    """The banker to draw the cards; nothing changes about the stakes any more."""
    PUNTER = "punter"
    """The punter to draw or stand."""
    BANKER = "banker"
    """The banker to draw or stand."""
    CHOICE = "choice"
    """The banker to keep the bank or pass it on."""


class Presence(Enum):
    """Whether a guest is asked, and whether the seat is kept."""

    PLAYING = "playing"
    AWAY = "away"
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True)
class Seat:
    """A place someone sits at. `balance` is what may still be put down, in minor units."""

    number: int
    balance: int
    presence: Presence = Presence.PLAYING


@dataclass(frozen=True, slots=True)
class Chips:
    """What one seat has put before the croupier as bank, stake or bid."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Shoe:
    """Six decks in the order they are dealt, and how many cards are out."""

    cards: tuple[Card, ...] = field(repr=False)
    drawn: int = 0

    @property
    def spent(self) -> bool:
        """Whether the cut card is the next to come, or out: no coup begins any more."""
        return len(self.cards) - self.drawn <= CUT_CARD


@dataclass(frozen=True, slots=True)
class Hand:
    """Two cards, a third perhaps; `shown` says whether the two are turned up. A third card always is."""

    pair: tuple[Card, Card] = field(repr=False)
    third: Card | None = None
    shown: bool = False

    @property
    def pair_total(self) -> int:
        """What the two cards count: all that the third-card rules look at."""
        return total(self.pair)

    @property
    def natural(self) -> bool:
        """Eight or nine in two cards."""
        return self.pair_total in NATURALS

    @property
    def total(self) -> int:
        """What the hand counts with its third card."""
        return total(self.pair if self.third is None else (*self.pair, self.third))


@dataclass(frozen=True, slots=True)
class Hands:
    """Both hands of a coup and who has asked for advice about his."""

    punter: Hand
    banker: Hand
    advised: frozenset[Side] = frozenset()

    def of(self, side: Side) -> Hand:
        """The hand of one side."""
        return self.punter if side is Side.PUNTER else self.banker


@dataclass(frozen=True, slots=True)
class Coup:
    """One coup, from the first call to its outcome.

    `stakes` stand in the order that decides who holds the cards where stakes are equal: the caller first, then from
    the banker's right.
    """

    call: Call | None = None
    stakes: tuple[Chips, ...] = ()
    hands: Hands | None = None
    outcome: Outcome | None = None

    @property
    def at_risk(self) -> int:
        """How much of the bank is covered."""
        return sum(stake.amount for stake in self.stakes)

    @property
    def punter(self) -> int | None:
        """The seat that plays for all who staked: the highest stake; of equal ones the first."""
        return max(self.stakes, key=lambda stake: stake.amount).seat if self.stakes else None

    @property
    def caller(self) -> int | None:
        """The seat whose call stands."""
        return self.stakes[0].seat if self.call else None

    @property
    def one_against_one(self) -> bool:
        """Whether one punter alone faces the banker, so that nobody else suffers from a departure from the rule."""
        return len(self.stakes) == 1


@dataclass(frozen=True, slots=True)
class Sale:
    """A bank its banker has passed on: what it held, and the bids for it."""

    full_amount: int
    bids: tuple[Chips, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """A table. `asked` is the seat whose turn it is in a phase that asks one seat after another.

    `last_banker` is the seat the order counts from: the banker's, or while the bank is free the last one's. `coup`
    stays, with its outcome, until the next begins.
    """

    rules: TableRules
    last_banker: int
    seats: tuple[Seat, ...] = ()
    phase: Phase = Phase.GUESTS
    asked: int | None = None
    bank: Chips | None = None
    sale: Sale | None = None
    coup: Coup | None = None
    shoe: Shoe | None = None

    @property
    def turn(self) -> int | None:
        """The seat that is asked to decide something now."""
        match self.phase:
            case Phase.CARDS | Phase.BANKER | Phase.CHOICE:
                return self.held_bank.seat
            case Phase.PUNTER:
                return self.running_coup.punter
            case _:
                return self.asked

    @property
    def held_bank(self) -> Chips:
        """The bank, in a phase in which someone holds it."""
        return there(self.bank)

    @property
    def offered_sale(self) -> Sale:
        """The sale, in a phase in which a bank is sold."""
        return there(self.sale)

    @property
    def running_coup(self) -> Coup:
        """The coup, in a phase in which one is being played."""
        return there(self.coup)

    @property
    def dealt_hands(self) -> Hands:
        """Both hands, in a phase in which cards are on the table."""
        return there(self.running_coup.hands)

    def find(self, number: int) -> Seat | None:
        """The seat of this number, if someone sits there."""
        return next((seat for seat in self.seats if seat.number == number), None)

    def seat(self, number: int) -> Seat:
        """The seat of this number. Raises Refused where nobody sits."""
        seat = self.find(number)
        if seat is None:
            raise Refused(Refusal.NOT_SEATED)
        return seat


def new_table(rules: TableRules) -> State:
    """An empty table. The first bank is offered from place 1 on."""
    return State(rules, last_banker=rules.places)


def there(part: T | None) -> T:
    """What the phase implies is there. Raises WrongPhase where a caller asks in another phase."""
    if part is None:
        raise WrongPhase
    return part
