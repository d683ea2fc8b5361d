"""Actions at the table.

Each action is a record with the seat that acts.

Amounts are whole minor units. An action is only a request: `apply` decides whether it is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from games.engine.cards import Card
from games.engine.chemin.rules import Call


@dataclass(frozen=True, slots=True)
class Join:
    """Sit down on a free seat with this balance."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the seat.

    A player who takes part in a coup leaves after it, and the croupier decides for them until then.
    """

    seat: int


@dataclass(frozen=True, slots=True)
class StepAway:
    """Keep the seat but skip all turns."""

    seat: int


@dataclass(frozen=True, slots=True)
class ComeBack:
    """Take turns again, after stepping away or after a request to leave."""

    seat: int


@dataclass(frozen=True, slots=True)
class SetBalance:
    """Set the balance of a player from the ledger, because money also moves outside the game."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class TakeBank:
    """Become banker with this amount in the bank."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class Pass:
    """Decline an offer, a call, a stake or a bid."""

    seat: int


@dataclass(frozen=True, slots=True)
class MakeBid:
    """Bid this amount for the bank."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class MakeCall:
    """Call banco in one of its four forms. Only *banco avec la table* has an amount."""

    seat: int
    call: Call
    amount: int | None = None


@dataclass(frozen=True, slots=True)
class LayStake:
    """Stake this amount against the bank."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class DealCards:
    """Deal the four cards of the coup from the shoe. The banker does this."""

    seat: int


@dataclass(frozen=True, slots=True)
class DrawCard:
    """Draw a third card."""

    seat: int


@dataclass(frozen=True, slots=True)
class Stand:
    """Stand on two cards."""

    seat: int


@dataclass(frozen=True, slots=True)
class AskCroupier:
    """Ask the croupier for the rule. The answer is binding."""

    seat: int


@dataclass(frozen=True, slots=True)
class KeepBank:
    """Stay banker for another coup with the current bank."""

    seat: int


@dataclass(frozen=True, slots=True)
class GiveSuite:
    """Pass the bank on after a coup that the banker did not lose."""

    seat: int


@dataclass(frozen=True, slots=True)
class BringShoe:
    """Put a new shoe of six shuffled decks on the table. The first card is dealt first."""

    cards: tuple[Card, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class TimeUp:
    """End the time limit: the croupier decides by the rule for the player whose turn it is."""


@dataclass(frozen=True, slots=True)
class VoidCoup:
    """Void the current coup and return every stake."""


@dataclass(frozen=True, slots=True)
class EndBank:
    """End the bank between two coups and offer it again from the minimum."""


@dataclass(frozen=True, slots=True)
class BreakUp:
    """Close the table between two coups: return the bank and all bids, and remove every player."""


TableAction = (
    TakeBank | Pass | MakeBid | MakeCall | LayStake | DealCards | DrawCard | Stand | AskCroupier | KeepBank | GiveSuite
)
"""Decisions of a player in turn."""

SeatAction = Join | Leave | StepAway | ComeBack | SetBalance
"""Actions about a seat, allowed at any time."""

HouseAction = BringShoe | TimeUp | VoidCoup | EndBank | BreakUp
"""Actions of the house."""

Action = TableAction | SeatAction | HouseAction
