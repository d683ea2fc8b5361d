"""Compose a table page from plain values, in the reader's language, for a player or a visitor."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import Final, Protocol
from uuid import UUID

from django.utils.translation import get_language

from games.betting.error_messages import closed, halted, paused
from games.betting.limits import Limits
from games.betting.rules import bets_stand
from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.coup import Coup, Outcome, Side, deal
from games.labels import announcement, bet_name, calls, card_name
from games.tables.presentation import (
    CardView,
    ChipView,
    FeltView,
    GameView,
    HandView,
    Notice,
    PileView,
    PurseView,
    RoundView,
    SignedDeal,
    SpotView,
)
from wallet.models import Mode

MINOR = 100
THOUSAND = 1000
FIRST_FOUR = 4
RESULT = 8  # the step of a deal in which the result appears


class SettledBet(Protocol):
    """A settled bet: the engine's line or its stored row. Minor units; the payout includes the stake."""

    @property
    def stake(self) -> int: ...
    @property
    def payout(self) -> int: ...
    @property
    def result(self) -> str: ...


@dataclass(frozen=True)
class Dealt:
    """A finished round of a player or a visitor. Amounts in minor units."""

    id: UUID
    code: str
    cards: str  # in dealing order: "9H 4D KS 2C"
    staked: int
    paid: int
    balance_before: int
    balance_after: int
    bets: Mapping[str, SettledBet]
    seed: str = ""  # in hex; public because the round is over; "" for a round from a shoe
    player_value: str = ""
    signed: SignedDeal | None = None

    @property
    def coup(self) -> Coup:
        """The two hands that the cards make."""
        return deal([Card.parse(code) for code in self.cards.split()])


@dataclass(frozen=True)
class Seat:
    """The state of a seat at a table. Amounts in minor units."""

    variant: Variant
    limits: Limits
    mode: Mode
    takes_bets: bool
    is_paused: bool
    is_house_stopped: bool
    table_version: int  # its number
    round_id: UUID  # of the next round
    commitment: str
    slip: Mapping[str, int]
    slip_version: int
    can_undo: bool
    last_stakes: Mapping[str, int]
    last_chip: int | None
    table_id: int
    funds: int  # the balance to play with


def compose(
    seat: Seat,
    *,
    language: str,
    notice: Notice | None,
    dealt: Dealt | None,
    is_last: bool,
    fresh: bool,
    purse: PurseView | None = None,
) -> GameView:
    """Return everything inside ``#game``.

    *dealt* is the round whose cards are on the table. *is_last* means that no round was played here
    since. *fresh* means that the reader has not seen it yet.
    """
    variant, limits, stand = seat.variant, seat.limits, bets_stand(seat.variant)
    settled = dealt is not None and seat.slip_version == 0 and (not stand or is_last)
    bets = dealt.bets if dealt and settled else {}
    stakes: Mapping[str, int] = seat.slip or {bet: line.stake for bet, line in bets.items()}
    chosen = seat.last_chip if seat.last_chip in limits.chips else limits.first_chip
    return GameView(
        currency=limits.currency,
        mode="R" if seat.mode is Mode.REAL else "F",
        spots=spots(variant, limits, stakes, bets, language),
        tray=tuple(chip_view(chip, limits.chips, chosen=chip == chosen) for chip in limits.chips),
        bet_total=sum(stakes.values()),
        balance=seat.funds if stand else seat.funds - sum(seat.slip.values()),
        win=dealt.paid if dealt and bets else 0,
        round=round_view(dealt, variant, language=language, fresh=fresh) if dealt else None,
        notice=notice or _waits(seat),
        next_round_id=seat.round_id,
        slip_version=seat.slip_version,
        table_version=seat.table_version,
        commitment=seat.commitment,
        is_open=seat.takes_bets,
        is_paused=seat.is_paused,
        is_halted=seat.is_paused and seat.is_house_stopped,
        table_id=seat.table_id,
        decks=variant.decks,
        rules_digest=variant.digest,
        can_deal=seat.takes_bets and bool(seat.slip),
        can_double=seat.takes_bets and bool(seat.slip),
        can_clear=bool(seat.slip),
        can_undo=seat.can_undo,
        can_rebet=seat.takes_bets and bool(seat.last_stakes),
        settled=settled,
        is_last_bet=settled and not stand,
        controls=variant.control_names,
        limits=limit_lines(variant, limits, language),
        purse=purse,
    )


def _waits(seat: Seat) -> Notice | None:
    """Return why no bets are taken, or None."""
    if seat.is_paused:
        return halted() if seat.is_house_stopped else paused()
    return None if seat.takes_bets else closed()


def limit_lines(variant: Variant, limits: Limits, language: str) -> tuple[tuple[str, int, int], ...]:
    """Return minimum and maximum once for all bets that share them, in table order."""
    names: dict[tuple[int, int], list[str]] = {}
    for bet in variant.bets:
        allowed = limits.bets[bet.code]
        names.setdefault((allowed.minimum, allowed.maximum), []).append(bet_name(variant, bet.code, language))
    return tuple((", ".join(bets), minimum, maximum) for (minimum, maximum), bets in names.items())


def spots(
    variant: Variant, limits: Limits, stakes: Mapping[str, int], bets: Mapping[str, SettledBet], language: str
) -> tuple[SpotView, ...]:
    """Return the bet areas in table order with their stakes or results."""
    felt = FeltView(variant.slug, len(variant.felt.wide))
    return tuple(
        SpotView(
            code=bet.code,
            name=bet_name(variant, bet.code, language),
            pays=bet.pays_text,
            stake=stakes.get(bet.code, 0),
            piles=piles(stakes.get(bet.code, 0), limits.chips),
            result=bets[bet.code].result if bet.code in bets else "",
            payout=bets[bet.code].payout if bet.code in bets else 0,
            minimum=limits.bets[bet.code].minimum,
            maximum=limits.bets[bet.code].maximum,
            tone=variant.felt.tone(bet.code).value,
            is_side=variant.felt.is_side(bet.code),
            is_slim=variant.felt.is_slim(bet.code),
            felt=felt,
        )
        for bet in variant.bets
    )


def round_view(dealt: Dealt, variant: Variant, *, language: str, fresh: bool) -> RoundView:
    """Convert a finished round for the page."""
    coup = dealt.coup
    return RoundView(
        id=dealt.id,
        code=dealt.code,
        player=hand_view(coup, Side.PLAYER, variant, language),
        banker=hand_view(coup, Side.BANKER, variant, language),
        outcome=coup.outcome.value,
        announcement=announcement(coup),
        calls=_calls(coup) if fresh else (),
        natural=coup.natural,
        steps=len(coup.cards),
        staked=dealt.staked,
        paid=dealt.paid,
        balance_before=dealt.balance_before,
        balance_after=dealt.balance_after,
        fresh=fresh,
        seed=dealt.seed,
        player_value=dealt.player_value,
        signed=dealt.signed,
    )


def _calls(coup: Coup) -> tuple[tuple[int, str, int], ...]:
    said = sorted(calls(coup).items())
    ends = [*(step for step, _ in said[1:]), RESULT]
    return tuple((step, text, end) for (step, text), end in zip(said, ends, strict=True))


def hand_view(coup: Coup, side: Side, variant: Variant, language: str) -> HandView:
    """Return one side's cards, each with its place in the dealing order."""
    hand = coup.hand(side)
    first = 1 if side is Side.PLAYER else 2
    spoken = get_language()
    orders = [first, first + 2, FIRST_FOUR + 1 if side is Side.PLAYER else len(coup.cards)]
    return HandView(
        side=side.value,
        name=bet_name(variant, side.value, language),
        cards=tuple(
            _card_view(card, order, index == 2, spoken)
            for index, (card, order) in enumerate(zip(hand, orders, strict=False))
        ),
        score=coup.score(side),
        total=coup.player_total if side is Side.PLAYER else coup.banker_total,
        wins=coup.outcome is Outcome(side.value),
    )


def card_view(card: Card, order: int, *, third: bool) -> CardView:
    """Return a card for the page."""
    return _card_view(card, order, third, get_language())


@cache
def _card_view(card: Card, order: int, third: bool, _language: str | None) -> CardView:
    return CardView(
        rank="10" if card.rank.letter == "T" else card.rank.letter,
        suit=card.suit.name.lower(),
        symbol=card.suit.symbol,
        code=card.code,
        name=card_name(card),
        order=order,
        third=third,
    )


# Colours of chips by value, in whole units: a value has the same colour at every table. No two chips of a shipped tray
# share one.
CHIP_TONES: Final[Mapping[int, int]] = {
    1: 1, 2: 2, 5: 3, 10: 4, 20: 1, 25: 5, 50: 6, 100: 7, 250: 1, 500: 8, 1000: 9, 2500: 1, 5000: 2, 10_000: 3,
    25_000: 5, 50_000: 5,
}  # fmt: skip


@lru_cache(maxsize=1024)
def chip_view(value: int, tray: tuple[int, ...], *, chosen: bool = False) -> ChipView:
    """Return a chip of the tray or of a bet."""
    units = value // MINOR
    return ChipView(
        value=value,
        text=f"{units // THOUSAND}k" if units >= THOUSAND and units % THOUSAND == 0 else str(units),
        tone=CHIP_TONES.get(units, 1 + tray.index(value)),
        chosen=chosen,
    )


def piles(amount: int, tray: tuple[int, ...]) -> tuple[PileView, ...]:
    """Return the fewest chips that come to *amount* in piles of equal chips, largest value first."""
    return tuple(PileView(chip, len(list(equal))) for chip, equal in groupby(stack(amount, tray)))


def stack(amount: int, tray: tuple[int, ...]) -> tuple[ChipView, ...]:
    """Return the fewest chips that come to *amount*, largest first."""
    chips: list[ChipView] = []
    for value in sorted(tray, reverse=True):
        count, amount = divmod(amount, value)
        chips += [chip_view(value, tray)] * count
    return tuple(chips)
