"""What happened, as the whole table may hear it.

No event ever carries a card that lies face down: what one guest alone may see comes from `view`. Every movement of
money is told, so that balances, bank and stakes can be followed from the events alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from games.engine.cards import Card
from games.engine.chemin.rules import Call, Outcome, Side
from games.engine.chemin.state import Chips, Phase


class Announcement(StrEnum):
    """What the croupier says aloud. The French and the German stand as they are spoken at the table."""

    WHO_TAKES_THE_BANK = "who_takes_the_bank"
    BANK_AT_ITS_FULL_AMOUNT = "bank_at_its_full_amount"
    BANK_TO_THE_HIGHEST_BID = "bank_to_the_highest_bid"
    BANK_IS_FREE = "bank_is_free"
    WAITING_FOR_GUESTS = "waiting_for_guests"
    SHOE_IS_SPENT = "shoe_is_spent"
    WHO_CALLS_BANCO = "who_calls_banco"
    FAITES_VOS_JEUX = "faites_vos_jeux"
    NO_STAKES_NO_COUP = "no_stakes_no_coup"
    RIEN_NE_VA_PLUS = "rien_ne_va_plus"
    BITTE_DIE_KARTEN = "bitte_die_karten"
    NO_THIRD_CARD = "no_third_card"


@dataclass(frozen=True, slots=True)
class Announced:
    """The croupier speaks; `amount` is what he names: the bank offered, what is open, what is at risk."""

    what: Announcement
    amount: int | None = None


@dataclass(frozen=True, slots=True)
class GuestJoined:
    """A guest sat down with this much to play with."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class GuestWillLeave:
    """A guest wants to go, but has a part in the coup."""

    seat: int


@dataclass(frozen=True, slots=True)
class GuestLeft:
    """A guest is gone and took this much along."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class GuestAway:
    """A guest is no longer asked."""

    seat: int


@dataclass(frozen=True, slots=True)
class GuestBack:
    """A guest is asked again."""

    seat: int


@dataclass(frozen=True, slots=True)
class BalanceSet:
    """A guest has this much to play with from now on."""

    seat: int
    balance: int


@dataclass(frozen=True, slots=True)
class ShoeBrought:
    """A new shoe of so many cards is in play."""

    cards: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a guest decided, or the croupier in his place, since the guest did not."""

    seat: int
    by_house: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed(Decision):
    """A guest let go by what this phase asks: the bank, a call, a stake, a bid."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class BankTaken:
    """A guest is banker and has put this much into the bank."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class BidMade:
    """A guest put up this much to become banker; it stays with the croupier until the auction ends."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class BidReturned:
    """A bid goes back, be it to make room for the bank it won."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class CallMade:
    """A guest called; this is the stake that goes with it until others join."""

    seat: int
    call: Call
    amount: int


@dataclass(frozen=True, slots=True)
class StakeLaid:
    """A guest staked this much."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class StakeRelieved:
    """Someone joined the call: so much of the caller's stake goes back."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsDealt(Decision):
    """The banker drew two cards for the punter and two for himself, all face down."""

    punter: int


@dataclass(frozen=True, slots=True)
class AdviceAsked:
    """A side asked the croupier what the rule says; the answer is in the asker's view."""

    seat: int
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared(Decision):
    """A side drew or stood."""

    side: Side
    draws: bool


@dataclass(frozen=True, slots=True)
class HandShown:
    """A side's first two cards are turned up."""

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
    """One punter's part in a coup: what was staked and what came back, stake included."""

    seat: int
    stake: int
    returned: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A coup is over: its totals, every stake, the tax taken, and what the bank holds then."""

    outcome: Outcome
    punter_total: int
    banker_total: int
    stakes: tuple[SettledStake, ...]
    tax: int
    bank: int


@dataclass(frozen=True, slots=True)
class CoupAnnulled:
    """The house annulled a coup; every one of these stakes goes back."""

    stakes: tuple[Chips, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BankKept(Decision):
    """The banker stays banker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteGiven(Decision):
    """The banker passes the bank on."""


@dataclass(frozen=True, slots=True)
class ExcessTakenHome:
    """What the bank grew beyond the table's maximum went to the banker."""

    seat: int
    amount: int


@dataclass(frozen=True, slots=True)
class BankEnded:
    """A guest is banker no longer and took home what was in the bank."""

    seat: int
    amount: int


Event = (
    Announced
    | GuestJoined
    | GuestWillLeave
    | GuestLeft
    | GuestAway
    | GuestBack
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
    | CoupAnnulled
    | BankKept
    | SuiteGiven
    | ExcessTakenHome
    | BankEnded
)
