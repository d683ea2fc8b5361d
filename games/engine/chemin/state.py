"""The immutable state of a table: seats, bank, stakes, hands, shoe.

A state contains the undealt and the face-down cards, so it must stay secret. `view` is what a
viewer may see. The `repr` omits these cards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TypeVar

from games.engine.cards import Card
from games.engine.chemin.rules import CUT_CARD, Call, Outcome, Side, TableRules
from games.engine.coup import NATURALS, total


class Refusal(StrEnum):
    """All reasons. A refused action changes nothing."""

    # Seats
    NO_SUCH_SEAT = "no_such_seat"
    SEAT_TAKEN = "seat_taken"
    NOT_SEATED = "not_seated"
    ALREADY_AWAY = "already_away"
    NOT_AWAY = "not_away"
    ALREADY_LEAVING = "already_leaving"
    AWAY_FROM_PLAY = "away_from_play"
    # Turns
    NOT_NOW = "not_now"
    NOT_YOUR_TURN = "not_your_turn"
    NOBODY_IS_ASKED = "nobody_is_asked"
    # Money
    BAD_AMOUNT = "bad_amount"
    NOT_COVERED = "not_covered"
    BELOW_MINIMUM = "below_minimum"
    ABOVE_MAXIMUM = "above_maximum"
    NOT_THE_FULL_AMOUNT = "not_the_full_amount"
    NOT_UNDER_THE_FULL_AMOUNT = "not_under_the_full_amount"
    MORE_THAN_IS_OPEN = "more_than_is_open"
    LESS_THAN_HALF = "less_than_half"
    # Cards
    RULE_BINDS = "rule_binds"
    ADVICE_BINDS = "advice_binds"
    ALREADY_ADVISED = "already_advised"
    WRONG_SHOE = "wrong_shoe"


class Refused(Exception):
    """The action is not allowed in this state; `reason` names the rule."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason.value)
        self.reason = reason


T = TypeVar("T")


class WrongPhase(RuntimeError):
    """The phase does not have the requested part of the state: a programming error."""


class Phase(StrEnum):
    """Phase of a table. The text at each value says what the table is waiting for."""

    ALONE = "alone"
    """A second player."""
    FREE = "free"
    """Any player to take the bank; all have declined it."""
    OFFER = "offer"
    """A seat to take the bank, at the minimum or more, or to pass."""
    SUITE = "suite"
    """A seat to take over the bank at its full amount."""
    AUCTION = "auction"
    """A seat to bid less than the full amount."""
    SHOE = "shoe"
    """The house to bring a new shoe."""
    CALLS = "calls"
    """A seat to call banco."""
    STAKES = "stakes"
    """A seat to stake."""
    CARDS = "cards"
    """The banker to deal; the stakes are closed."""
    PUNTER = "punter"
    """The punter to draw or stand."""
    BANKER = "banker"
    """The banker to draw or stand."""
    CHOICE = "choice"
    """The banker to keep the bank or pass it on."""


class Presence(Enum):
    """Presence of a player at a seat: it decides whether they take turns and keep the seat."""

    PLAYING = "playing"
    AWAY = "away"
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True)
class Seat:
    """An occupied seat. `balance` is the amount not in play, in minor units."""

    number: int
    balance: int
    presence: Presence = Presence.PLAYING


@dataclass(frozen=True, slots=True)
class Chips:
    """Chips that one seat has put down as bank, stake or bid."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Shoe:
    """Six decks in dealing order, and the number of dealt cards."""

    cards: tuple[Card, ...] = field(repr=False)
    drawn: int = 0

    @property
    def spent(self) -> bool:
        """True if the cut card is next or was dealt. No coup begins then."""
        return len(self.cards) - self.drawn <= CUT_CARD


@dataclass(frozen=True, slots=True)
class Hand:
    """Two cards and possibly a third.

    `shown` says whether the first two are face up; a third card always is.
    """

    pair: tuple[Card, Card] = field(repr=False)
    third: Card | None = None
    shown: bool = False

    @property
    def pair_total(self) -> int:
        """The total of the first two cards, which the third-card rules use."""
        return total(self.pair)

    @property
    def natural(self) -> bool:
        """True if the first two cards total eight or nine."""
        return self.pair_total in NATURALS

    @property
    def total(self) -> int:
        """The total of the hand, third card included."""
        return total(self.pair if self.third is None else (*self.pair, self.third))


@dataclass(frozen=True, slots=True)
class Hands:
    """Both hands of a coup, and the sides that asked for advice."""

    punter: Hand
    banker: Hand
    advised: frozenset[Side] = frozenset()

    def of(self, side: Side) -> Hand:
        """Return the hand of one side."""
        return self.punter if side is Side.PUNTER else self.banker


@dataclass(frozen=True, slots=True)
class Coup:
    """One coup, from the first call to its outcome.

    The order of `stakes` decides who plays the hand if stakes are equal: the caller first, then
    from the banker's right.
    """

    call: Call | None = None
    stakes: tuple[Chips, ...] = ()
    hands: Hands | None = None
    outcome: Outcome | None = None

    @property
    def at_risk(self) -> int:
        """The covered part of the bank."""
        return sum(stake.amount for stake in self.stakes)

    @property
    def punter(self) -> int | None:
        """The seat that plays for all punters: the highest stake, and of equal stakes the first."""
        return max(self.stakes, key=lambda stake: stake.amount).seat if self.stakes else None

    @property
    def caller(self) -> int | None:
        """The seat of the caller."""
        return self.stakes[0].seat if self.call else None

    @property
    def one_against_one(self) -> bool:
        """True if a single punter plays against the banker, so a departure from the rule affects
        nobody else.
        """
        return len(self.stakes) == 1


@dataclass(frozen=True, slots=True)
class Sale:
    """The sale of a bank that was passed on: its amount and the bids."""

    full_amount: int
    bids: tuple[Chips, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """The state of a table.

    `asked` is the seat in turn in a phase that asks one seat after another.

    `last_banker` is the seat from which the order counts: the banker's, or the last banker's while
    the bank is free. `coup` and its outcome stay until the next coup begins.
    """

    rules: TableRules
    last_banker: int
    seats: tuple[Seat, ...] = ()
    phase: Phase = Phase.ALONE
    asked: int | None = None
    bank: Chips | None = None
    sale: Sale | None = None
    coup: Coup | None = None
    shoe: Shoe | None = None

    @property
    def turn(self) -> int | None:
        """The seat that has to decide now."""
        match self.phase:
            case Phase.CARDS | Phase.BANKER | Phase.CHOICE:
                return self.held_bank.seat
            case Phase.PUNTER:
                return self.running_coup.punter
            case _:
                return self.asked

    @property
    def held_bank(self) -> Chips:
        """The bank. Raises WrongPhase if nobody holds it."""
        return there(self.bank)

    @property
    def offered_sale(self) -> Sale:
        """The sale. Raises WrongPhase if no bank is for sale."""
        return there(self.sale)

    @property
    def running_coup(self) -> Coup:
        """The current coup. Raises WrongPhase if there is none."""
        return there(self.coup)

    @property
    def dealt_hands(self) -> Hands:
        """Both hands. Raises WrongPhase if no cards are dealt."""
        return there(self.running_coup.hands)

    def find(self, number: int) -> Seat | None:
        """Return the seat with this number, or None if it is free."""
        return next((seat for seat in self.seats if seat.number == number), None)

    def seat(self, number: int) -> Seat:
        """Return the seat with this number. Raises Refused if it is free."""
        seat = self.find(number)
        if seat is None:
            raise Refused(Refusal.NOT_SEATED)
        return seat


def new_table(rules: TableRules) -> State:
    """Return an empty table. The first bank is offered from seat 1."""
    return State(rules, last_banker=rules.seat_count)


def there(part: T | None) -> T:
    """Return a part that must exist in this phase. Raises WrongPhase if it is None."""
    if part is None:
        raise WrongPhase
    return part
