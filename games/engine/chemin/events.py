"""Events of a table, as everyone at the table may see them.

An event never contains a face-down card; what one player alone may see comes from `view`. Every
movement of money is an event, so balances, bank and stakes can be computed from the events alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from games.engine.cards import Card
from games.engine.chemin.rules import Call, Outcome, Side
from games.engine.chemin.state import Chips, Phase, State


class Announcement(StrEnum):
    """Announcements of the croupier. The French and German phrases are those used at the table."""

    WHO_TAKES_THE_BANK = "who_takes_the_bank"
    BANK_AT_ITS_FULL_AMOUNT = "bank_at_its_full_amount"
    BANK_TO_THE_HIGHEST_BID = "bank_to_the_highest_bid"
    BANK_IS_FREE = "bank_is_free"
    WAITING_FOR_PLAYERS = "waiting_for_players"
    SHOE_IS_SPENT = "shoe_is_spent"
    WHO_CALLS_BANCO = "who_calls_banco"
    FAITES_VOS_JEUX = "faites_vos_jeux"
    NO_STAKES_NO_COUP = "no_stakes_no_coup"
    RIEN_NE_VA_PLUS = "rien_ne_va_plus"
    BITTE_DIE_KARTEN = "bitte_die_karten"
    NO_THIRD_CARD = "no_third_card"


@dataclass(frozen=True, slots=True)
class Announced:
    """The croupier announces something.

    `amount` is the amount named: the bank offered, the open amount, or the amount at risk.
    """

    what: Announcement
    amount: int | None = None


@dataclass(frozen=True, slots=True)
class PlayerJoined:
    """A player sat down with this balance."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class PlayerWillLeave:
    """A player wants to leave but takes part in the coup."""

    seat: int


@dataclass(frozen=True, slots=True)
class PlayerLeft:
    """A player left with this balance."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class PlayerAway:
    """A player is skipped from now on."""

    seat: int


@dataclass(frozen=True, slots=True)
class PlayerBack:
    """A player takes turns again."""

    seat: int


@dataclass(frozen=True, slots=True)
class BalanceSet:
    """The balance of a player was set."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class ShoeBrought:
    """A new shoe with this number of cards is on the table."""

    cards: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision of a player, or of the croupier for a player who did not decide."""

    seat: int
    by_house: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed(Decision):
    """A player declined the question of this phase: the bank, a call, a stake or a bid."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class BankTaken:
    """A player became banker with this amount in the bank."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class BidMade:
    """A player bid this amount. The croupier holds it until the auction ends."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class BidReturned:
    """A bid is returned. This includes the winning bid, before the bank is paid in."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class CallMade:
    """A player called. The amount is the caller's stake until others join."""

    seat: int
    call: Call
    amount: int


@dataclass(frozen=True, slots=True)
class StakeLaid:
    """A player staked this amount."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class StakeRelieved:
    """Another player joined the call, and this part of the caller's stake is returned."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsDealt(Decision):
    """The banker dealt two cards to the punter and two to the bank, all face down."""

    punter: int


@dataclass(frozen=True, slots=True)
class AdviceAsked:
    """A side asked the croupier for the rule. The answer is in the view of that player."""

    seat: int
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared(Decision):
    """A side drew or stood."""

    side: Side
    draws: bool


@dataclass(frozen=True, slots=True)
class HandShown:
    """The first two cards of a side are turned up."""

    side: Side
    cards: tuple[Card, ...]
    total: int
    natural: bool


@dataclass(frozen=True, slots=True)
class ThirdCard:
    """A side got a third card, face up."""

    side: Side
    card: Card


@dataclass(frozen=True, slots=True)
class SettledStake:
    """One punter's part in a coup: the stake and the amount returned, stake included."""

    seat: int
    stake: int
    returned: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A coup is settled: totals, every stake, the tax, and the bank afterwards."""

    outcome: Outcome
    punter_total: int
    banker_total: int
    stakes: tuple[SettledStake, ...]
    tax: int
    bank: int


@dataclass(frozen=True, slots=True)
class CoupVoided:
    """The house voided a coup. All these stakes are returned."""

    stakes: tuple[Chips, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BankKept(Decision):
    """The banker stays banker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteGiven(Decision):
    """The banker passes the bank on."""


@dataclass(frozen=True, slots=True)
class ExcessTakenHome:
    """The part of the bank above the table's maximum was returned to the banker."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class BankEnded:
    """A player is no longer banker and got this bank back."""

    seat: int
    amount: int


Event = (
    Announced
    | PlayerJoined
    | PlayerWillLeave
    | PlayerLeft
    | PlayerAway
    | PlayerBack
    | BalanceSet
    | ShoeBrought
    | Passed
    | BankTaken
    | BidMade
    | BidReturned
    | CallMade
    | StakeLaid
    | StakeRelieved
    | CardsDealt
    | AdviceAsked
    | Declared
    | HandShown
    | ThirdCard
    | Settled
    | CoupVoided
    | BankKept
    | SuiteGiven
    | ExcessTakenHome
    | BankEnded
)


class Step(NamedTuple):
    """The state after a change, and the events of the change."""

    state: State
    events: tuple[Event, ...] = ()

    def then(self, follow: Callable[[State], Step]) -> Step:
        """Return this step followed by the step that *follow* makes from its state."""
        after = follow(self.state)
        return Step(after.state, self.events + after.events)
