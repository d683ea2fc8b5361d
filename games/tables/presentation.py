"""Plain values that a table page shows; templates read them and decide nothing.

Labels are in the reader's language, amounts are minor units, and nothing here depends on a request.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self
from uuid import UUID

HIGHEST_PILE: Final = 5  # chips that a pile is drawn with


@dataclass(frozen=True)
class CardView:
    """One card as dealt: ``order`` counts 1 to 6 over both hands in dealing order."""

    rank: str  # "A", "2" … "10", "J", "Q", "K"
    suit: str  # "clubs", "diamonds", "hearts", "spades"
    symbol: str  # "♣" …
    code: str  # "9H", "TD"
    name: str  # "nine of hearts", in the reader's language
    order: int
    third: bool


@dataclass(frozen=True)
class HandView:
    """One side's cards, its score as ``x:y`` and its final total."""

    side: Literal["player", "banker"]
    name: str
    cards: tuple[CardView, ...]
    score: str
    total: int
    wins: bool


@dataclass(frozen=True)
class ChipView:
    """A chip of the tray or of a stack: ``tone`` 1 to 8 picks its colour, small to large."""

    value: int  # minor units
    text: str  # "25", "5k"
    tone: int
    chosen: bool = False


@dataclass(frozen=True)
class PileView:
    """The chips of one value on a bet: each value has a pile of its own, so that all are visible."""

    chip: ChipView
    count: int

    @property
    def height(self) -> int:
        """The number of chips that are drawn."""
        return min(self.count, HIGHEST_PILE)


@dataclass(frozen=True)
class FeltView:
    """The variant whose layout the bet areas of a table have."""

    slug: str
    rows: int  # on a desktop


@dataclass(frozen=True)
class SpotView:
    """A bet area: its stake now, or its ``result`` and ``payout`` in the round shown."""

    code: str
    name: str
    pays: str
    stake: int
    piles: tuple[PileView, ...]  # that come to the stake, largest value first
    result: str  # "win", "push", "lose"; "" while the bet is open
    payout: int
    minimum: int
    maximum: int
    tone: str  # whose colour it has: games.engine.felt.Tone
    is_side: bool  # smaller print
    is_slim: bool  # one line on a phone
    felt: FeltView  # the felt under it


@dataclass(frozen=True)
class SignedDeal:
    """The dealer's signature of a solo round, and what the page does not show of the signed text."""

    epoch: str  # in hex
    number: int  # of the deal
    stakes: str  # minor units by bet: "banker=1000 tie=200"
    signature: str  # in hex
    receipt: str  # of the round, as a signed note; "" without one yet

    @classmethod
    def of(cls, epoch: str, number: int, stakes: Mapping[str, int], signature: bytes, receipt: str = "") -> Self:
        """Return the signature for the page."""
        text = " ".join(f"{bet}={stakes[bet]}" for bet in sorted(stakes))
        return cls(epoch, number, text, signature.hex(), receipt)


@dataclass(frozen=True)
class RoundView:
    """A finished round as it is dealt on the page or replayed."""

    id: UUID
    code: str
    player: HandView
    banker: HandView
    outcome: Literal["player", "banker", "tie"]
    announcement: str  # "Banker wins with 7 over 4."
    natural: bool
    steps: int  # cards dealt: 4 to 6
    staked: int
    paid: int
    balance_before: int
    balance_after: int
    fresh: bool  # just played: deal its cards one by one; otherwise show them at once
    calls: tuple[
        tuple[int, str, int], ...
    ] = ()  # the croupier's, during the deal: from which step, text, until which step
    seed: str = ""  # in hex; "" for a round from a shoe
    player_value: str = ""
    signed: SignedDeal | None = None  # of a round that was dealt just now; the page reads others when it needs them

    @property
    def balance_dealing(self) -> int:
        """BALANCE during the deal: stakes deducted, payouts not yet added. Minor units."""
        return self.balance_before - self.staked


@dataclass(frozen=True)
class Notice:
    """One sentence to the player, with a link if one helps. *wait*: seconds after which it is out of date."""

    level: Literal["info", "error"]
    text: str
    link: str = ""
    link_text: str = ""
    wait: float = 0


@dataclass(frozen=True)
class QuickView:
    """An amount to re-buy with one click: minor units, and whole units as any language reads them."""

    amount: int
    units: int


@dataclass(frozen=True)
class PurseForms:
    """Re-buy and Leave game, of a game with a balance of its own. Amounts in minor units."""

    account: int  # what Re-buy draws on
    quick: tuple[QuickView, ...]
    key: UUID  # of the re-buy form on this page
    leave_key: UUID


@dataclass(frozen=True)
class PurseView(PurseForms):
    """Re-buy and Leave game at a solo table, with what the balance covers."""

    is_short: bool  # the bets on the table exceed the balance
    is_empty: bool  # not even the smallest bet is covered
    lower_total: int  # the most of the bets that the balance covers; 0 if none


@dataclass(frozen=True)
class GameView:
    """Everything inside ``#game``."""

    currency: str
    mode: Literal["R", "F"]
    spots: tuple[SpotView, ...]
    tray: tuple[ChipView, ...]
    bet_total: int  # BET: staked on the table now, or in the round shown
    balance: int  # BALANCE: less the bets on the table, except bets kept from the last round and not staked yet
    win: int  # WIN: what the round shown paid
    round: RoundView | None
    notice: Notice | None
    next_round_id: UUID
    slip_version: int
    table_version: int  # its number
    commitment: str  # SHA-256 of the next round's seed
    is_open: bool  # the table takes bets
    is_paused: bool  # only its pause or a house stop prevents bets
    is_halted: bool  # because of a house stop
    table_id: int
    decks: int
    rules_digest: str  # with the table and the decks, what the commitment binds the seed to
    can_deal: bool
    can_double: bool
    can_clear: bool
    can_undo: bool
    can_rebet: bool
    settled: bool  # the bets shown are those of the round shown
    is_last_bet: bool  # the bets are no longer on the table and only shown once more
    controls: frozenset[str]  # what the table offers, by games.engine.bets.Control
    limits: tuple[tuple[str, int, int], ...]  # names of bets that share a minimum and a maximum
    purse: PurseView | None
