"""View values of a Chemin de Fer table and its finished hands for templates.

Texts are in the reader's language, amounts in minor units of the table's currency.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from games.chemin.pages.messages import Spoken
from games.engine.chemin import Side
from games.engine.chemin.record import Dealt
from games.engine.chemin.rules import Outcome
from games.engine.chemin.state import Hand
from games.shared.pages.board import Countdown, SealView
from games.tables.board import card_view
from games.tables.presentation import CardView, ChipView, HandView, Notice
from wallet.models import Mode


@dataclass(frozen=True)
class ShownSeat:
    """One seat at the table, as everybody sees it. Amounts in minor units."""

    number: int
    name: str  # the seat's name, with the chat name of its player
    seated_player: str  # the chat name alone; "" if there is none
    seat_id: int | None  # the player's seat row, which others may report; None for a house player
    state: str  # "free", or the player's presence: "playing", "away", "leaving"
    is_house_player: bool
    is_turn: bool
    holds_cards: bool  # the punters' cards
    bank: int | None  # the bank held at this seat
    call: str
    stake: int
    chips: tuple[ChipView, ...]
    bid: int
    outcome: str  # of the stake, once the coup is over: "won", "even", "lost"


@dataclass(frozen=True)
class TableHand:
    """A side's hand as its reader sees it. None is a face-down card, and then there is no total."""

    side: Side
    name: str
    holder: str  # the player who plays the hand
    cards: tuple[CardView | None, ...]
    total: int | None
    is_natural: bool
    wins: bool


@dataclass(frozen=True)
class BankView:
    """The bank of a coup. Minor units."""

    holder: str
    amount: int
    at_risk: int
    open: int

    @property
    def percent(self) -> int:
        """The covered part of the bank in percent."""
        return min(100, self.at_risk * 100 // self.amount) if self.amount else 0


@dataclass(frozen=True)
class PastView:
    """The result of a coup: its letter, the winner and a sentence."""

    letter: str
    outcome: str  # "punter", "banker", "draw", "voided"
    message: str


@dataclass(frozen=True)
class PublicView:
    """State of the table as everybody sees it. Amounts in minor units of `currency`."""

    key: str  # changes when anything but the time and the move changes
    move: int  # number of the table's last move
    mode: Mode
    slug: str
    phase: str  # of the engine's `Phase`, or "stopped", "paused", "closed_table"
    round_id: UUID | None
    code: str
    currency: str
    seats: tuple[ShownSeat, ...]
    is_practice: bool
    spoken: tuple[Spoken, ...]  # the croupier's last announcements
    latest: str  # the latest event after them
    turn: int | None
    turn_message: str
    countdown: Countdown | None
    bank: BankView | None
    for_sale: int | None  # the price of a bank that is for sale
    punter: TableHand
    banker: TableHand
    outcome: str  # "punter", "banker", "draw"; "" during the coup
    result: str  # the outcome as a sentence
    tax: int
    notes: tuple[str, ...]
    past: tuple[PastView, ...]
    seal: SealView


@dataclass(frozen=True)
class QuickView:
    """An amount to choose with one click: its label, and its text for the field."""

    word: str
    text: str


@dataclass(frozen=True)
class OptionView:
    """An option of the player."""

    value: str  # form value, such as "take_bank" or "make_call:banco"
    label: str
    hint: str  # what the option costs or means
    is_main: bool  # the action the table waits for
    prefilled: str  # initial amount of the field; "" where there is no amount to choose
    quick: tuple[QuickView, ...]
    fixed: str = ""  # the amount of the button if there is none to choose
    lowest: int | None = None  # of the amounts to choose from, in minor units
    highest: int | None = None
    amount: int | None = None  # the fixed amount in minor units

    @property
    def id(self) -> str:
        """The value in the form of an HTML id."""
        return self.value.replace(":", "-")


@dataclass(frozen=True)
class OwnView:
    """One player's own game and money. Amounts in minor units of `currency`."""

    mode: Mode
    slug: str
    currency: str
    seat: int | None
    presence: str  # "playing", "away", "leaving"; "" without a seat
    question: int
    message: str  # what the player may do now
    is_asked: bool
    options: tuple[OptionView, ...]
    chances: str  # results of banks and stakes with their chances; "" where neither is asked for
    hand: TableHand | None  # cards that only this player sees
    advice: str  # of the croupier, to this player only
    may_sit: bool
    may_sit_at_random: bool
    is_warned: bool  # warn before sitting down: nobody can see whether another player uses a program
    leaving: str  # what happens to the player's money on the table if they leave now; "" if there is none
    balance: int | None
    on_table: int
    notice: Notice | None
    outcome: str  # of the latest coup: "won", "even", "lost", "voided"; "" where the player had no part in it
    came_to: str
    last_round: UUID | None
    missed: str  # how many turns were missed, and how many make the player away; "" where none
    code: str
    clock: str  # time of day in the player's time zone
    zone: str
    net: int | None


@dataclass(frozen=True)
class LogLine:
    """An event in the table's log."""

    at: datetime
    text: str
    call: str
    language: str  # of the call
    cards: tuple[CardView, ...]
    by_croupier: bool  # decided for a player who did not
    is_result: bool


@dataclass(frozen=True)
class LogPart:
    """Events of one coup, or between coups, newest first."""

    code: str  # "" between coups
    lines: tuple[LogLine, ...]


@dataclass(frozen=True)
class LogView:
    """The table's log, newest first."""

    parts: tuple[LogPart, ...]


def hand_views(dealt: Dealt, punter: str, banker: str) -> tuple[HandView, HandView]:
    """Return the punters' hand and the banker's hand, each card with its place in the dealing order."""
    return (
        _hand("player", punter, dealt.punter, (1, 3, 5), wins=dealt.outcome is Outcome.PUNTER),
        _hand("banker", banker, dealt.banker, (2, 4, len(dealt.cards)), wins=dealt.outcome is Outcome.BANKER),
    )


def _hand(
    side: Literal["player", "banker"], name: str, hand: Hand, orders: tuple[int, int, int], *, wins: bool
) -> HandView:
    first, second, third = orders
    cards = [card_view(hand.pair[0], first, third=False), card_view(hand.pair[1], second, third=False)]
    if hand.third is not None:
        cards.append(card_view(hand.third, third, third=True))
    return HandView(
        side=side,
        name=name,
        cards=tuple(cards),
        score=f"{hand.pair_total}:{hand.total}",
        total=hand.total,
        wins=wins,
    )
