"""What a Chemin de Fer table shows, as plain values: templates read these and decide nothing.

Texts are already in the reader's language, amounts are minor units of the table's currency.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from games.chemin.messages import Spoken
from games.engine.chemin import Side
from games.shared.board import Countdown
from games.tables.presentation import CardView, ChipView, Notice
from wallet.models import Mode


@dataclass(frozen=True)
class PlaceView:
    """One place at the table, as everybody sees it. Amounts in minor units."""

    number: int
    name: str  # what the place is called, with the chat name of whoever sits there
    guest: str  # the chat name alone; "" where there is none
    seat_id: int | None  # of the guest there, whom others may report; None for a house player
    state: str  # "free", or how its guest is there: "playing", "away", "leaving"
    is_house_player: bool
    is_turn: bool
    holds_cards: bool  # of the punters
    bank: int | None  # what is in the bank that is held here
    call: str
    stake: int
    chips: tuple[ChipView, ...]
    bid: int
    outcome: str  # of the stake, once the coup is over: "won", "even", "lost"


@dataclass(frozen=True)
class TableHand:
    """A side's hand as it lies for its reader: None is a card face down, and then there is no total."""

    side: Side
    name: str
    holder: str  # who plays it
    cards: tuple[CardView | None, ...]
    total: int | None
    is_natural: bool
    wins: bool


@dataclass(frozen=True)
class BankView:
    """What is played for. Minor units."""

    holder: str
    amount: int
    at_risk: int
    open: int

    @property
    def percent(self) -> int:
        """How much of the bank is covered."""
        return min(100, self.at_risk * 100 // self.amount) if self.amount else 0


@dataclass(frozen=True)
class PastView:
    """How a coup ended: one letter for it, who won, and the sentence."""

    letter: str
    outcome: str  # "punter", "banker", "draw", "annulled"
    sentence: str


@dataclass(frozen=True)
class PublicView:
    """What everybody at the table sees. Amounts in minor units of `currency`."""

    key: str  # another one where anything but the time has changed
    mode: Mode
    slug: str
    phase: str  # of the engine's `Phase`, or "stopped", "paused", "closed_table"
    round_id: UUID | None
    code: str
    currency: str
    places: tuple[PlaceView, ...]
    is_practice: bool
    spoken: tuple[Spoken, ...]  # what the croupier said last
    latest: str  # what happened since
    turn: int | None
    turn_sentence: str
    countdown: Countdown | None
    bank: BankView | None
    for_sale: int | None  # the amount at which a bank is offered on
    punter: TableHand
    banker: TableHand
    outcome: str  # "punter", "banker", "draw"; "" while the coup lasts
    result: str  # the same as a sentence
    tax: int
    notes: tuple[str, ...]
    past: tuple[PastView, ...]
    shoe_number: int | None
    commitment: str
    spent_shoe: UUID | None
    spent_number: int | None


@dataclass(frozen=True)
class QuickView:
    """An amount to choose with one click: what it is, and how it is typed."""

    word: str
    text: str


@dataclass(frozen=True)
class OptionView:
    """Something the player may do now."""

    value: str  # what the button sends, as "take_bank" or "make_call:banco"
    label: str
    hint: str  # what it means here and now
    is_main: bool  # what the table waits for
    prefilled: str  # where there is an amount to choose: the one that stands there first, "" where there is none
    quick: tuple[QuickView, ...]
    fixed: str = ""  # the amount that goes with the button where there is none to choose
    lowest: int | None = None  # of the amounts to choose from, in minor units
    highest: int | None = None
    amount: int | None = None  # minor units of what is fixed

    @property
    def id(self) -> str:
        """The same as a name for the page."""
        return self.value.replace(":", "-")


@dataclass(frozen=True)
class OwnView:
    """What one player sees of their own. Amounts in minor units of `currency`."""

    mode: Mode
    slug: str
    currency: str
    seat: int | None
    presence: str  # "playing", "away", "leaving"; "" without a place
    question: int
    sentence: str  # what the player may do now
    is_asked: bool
    options: tuple[OptionView, ...]
    hand: TableHand | None  # cards that the player sees, and the table does not
    advice: str  # of the croupier, to this player alone
    may_sit: bool
    may_sit_at_random: bool
    is_warned: bool  # before sitting down among guests: nobody can see who has a program play
    leaving: str  # what happens where the player leaves now; "" where nothing of theirs is on the table
    balance: int | None
    on_table: int
    notice: Notice | None
    outcome: str  # of the latest coup: "won", "even", "lost", "annulled"; "" where the player had no part in it
    came_to: str
    last_round: UUID | None
    missed: str  # how near the player is to being away; "" where no turn was missed
    code: str
    clock: str  # the time of day where the player is
    zone: str
    net: int | None


@dataclass(frozen=True)
class LogLine:
    """Something that happened."""

    at: datetime
    text: str
    call: str
    language: str  # of the call
    cards: tuple[CardView, ...]
    by_croupier: bool  # decided for a guest who did not
    is_result: bool


@dataclass(frozen=True)
class LogPart:
    """What happened in one coup, or between coups, newest first."""

    code: str  # "" between coups
    lines: tuple[LogLine, ...]


@dataclass(frozen=True)
class LogView:
    """What the croupier has said and who has done what, newest first."""

    parts: tuple[LogPart, ...]
