"""Everything that can be done at the table, each as a record of who wants to do it.

Amounts are whole minor units. That an action was decided upon is no promise that it is allowed: `apply` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from games.engine.cards import Card
from games.engine.chemin.rules import Call


@dataclass(frozen=True, slots=True)
class Join:
    """Sit down at a free place with this much to play with."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Get up; whoever has a part in a coup goes when it is over, and the croupier decides for him until then."""

    seat: int


@dataclass(frozen=True, slots=True)
class StepAway:
    """Keep the seat but be asked nothing."""

    seat: int


@dataclass(frozen=True, slots=True)
class ComeBack:
    """Be asked again, whether after stepping away or after wanting to leave."""

    seat: int


@dataclass(frozen=True, slots=True)
class SetBalance:
    """What the guest has to play with, as the cashier knows it: money comes and goes outside the game."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class TakeBank:
    """Become banker, putting up this amount."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Pass:
    """Let an offer, a call, a stake or a bid go by."""

    seat: int


@dataclass(frozen=True, slots=True)
class MakeBid:
    """Offer to put up a bank of this amount."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class MakeCall:
    """Call banco in one of its four forms. Only *banco avec la table* names an amount."""

    seat: int
    call: Call
    amount: int | None = None


@dataclass(frozen=True, slots=True)
class LayStake:
    """Stake this much against the bank."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class DealCards:
    """Draw the four cards of the coup from the shoe; the banker's part."""

    seat: int


@dataclass(frozen=True, slots=True)
class DrawCard:
    """Ask for a third card."""

    seat: int


@dataclass(frozen=True, slots=True)
class Stand:
    """Be content with two cards."""

    seat: int


@dataclass(frozen=True, slots=True)
class AskCroupier:
    """Ask what the rule says, and be bound by the answer."""

    seat: int


@dataclass(frozen=True, slots=True)
class KeepBank:
    """Stay banker for another coup, with what is in the bank."""

    seat: int


@dataclass(frozen=True, slots=True)
class GiveSuite:
    """Pass the bank on after a coup that was not lost."""

    seat: int


@dataclass(frozen=True, slots=True)
class BringShoe:
    """The house brings six shuffled decks, first card first."""

    cards: tuple[Card, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The time allowed is over: the croupier decides by the rule for whoever is asked."""


@dataclass(frozen=True, slots=True)
class AnnulCoup:
    """The house annuls the coup that is being played: every stake goes back."""


@dataclass(frozen=True, slots=True)
class EndBank:
    """The house sends the bank home between two coups, and offers it on from the minimum."""


@dataclass(frozen=True, slots=True)
class BreakUp:
    """The house closes the table between two coups: bank and bids go home, every guest gets up."""


TableAction = (
    TakeBank | Pass | MakeBid | MakeCall | LayStake | DealCards | DrawCard | Stand | AskCroupier | KeepBank | GiveSuite
)
"""What a guest does when asked."""

SeatAction = Join | Leave | StepAway | ComeBack | SetBalance
"""What concerns a seat, at any time."""

HouseAction = BringShoe | TimeUp | AnnulCoup | EndBank | BreakUp
"""What the house alone does."""

Action = TableAction | SeatAction | HouseAction
