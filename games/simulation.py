"""Simulation: deals very many coups without money or database and compares returns with the
computed ones.

Two simulators give the same counts. `simulate_by_engine` uses the shuffle and the settlement of real
play. `simulate` deals many shoes at once with NumPy and asks the engine what each class of coup is
and pays. Only this module and the tests of randomness import NumPy.

The engine defines what a coup is: it deals every combination of points once into a lookup table and
settles every class of coups once. The arrays only add points, follow each shoe from coup to coup,
and count. Random numbers come from the operating system, but the cards are ordered by another
method than the house's shuffle.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, islice, product
from math import lcm
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.engine.bets import Shape, Variant
from games.engine.cards import FULL_DECK, Rank
from games.engine.conditions import CoupClass
from games.engine.coup import Coup, Pairing, deal
from games.engine.dealing import CUT_CARD, opening
from games.engine.dealing import coups as coups_of_shoe
from games.engine.odds import BetOdds, exact, percent, square_root
from games.engine.settle import SettlementError, settle
from games.engine.shoe import SEED_BYTES, shuffle

CONFIDENCE: Final = 0.99
_DEVIATIONS: Final = Fraction(NormalDist().inv_cdf((1 + CONFIDENCE) / 2))
_DECIMALS: Final = 12

ReturnCounts = Mapping[str, Counter[int]]
"""For every bet, the number of times each payout occurred.

Payouts are in minor units, stake included.
"""


@dataclass(frozen=True)
class Comparison:
    """The simulated return of one bet, with its exact odds and band.

    Figures are shares of the stake.
    """

    bet: str
    actual: Fraction
    exact: Fraction
    low: Fraction
    high: Fraction
    """99 of 100 simulations of this length are between low and high."""

    @property
    def within(self) -> bool:
        """True if the actual return is within its band."""
        return self.low <= self.actual <= self.high


def unit(variant: Variant) -> int:
    """Return the smallest stake, in minor units, at which no bet loses by rounding."""
    return lcm(*(prize.pays.per for bet in variant.bets for prize in bet.prizes))


def slips(variant: Variant, stake: int) -> tuple[Mapping[str, int], ...]:
    """Return slips that contain every bet once at this stake, on as few slips as possible.

    Bets are settled separately, but a side bet needs a main bet on its slip, and some bets exclude
    each other.
    """
    found: list[dict[str, int]] = []
    for bet in variant.bets:
        home = next((slip for slip in found if _allowed(variant, {**slip, bet.code: stake})), None)
        if home is None:
            found.append({bet.code: stake})
        else:
            home[bet.code] = stake
    return tuple(found)


def compare(variant: Variant, paid: ReturnCounts) -> Iterator[Comparison]:
    """Compare the returns of a simulation, made with the stake of `unit`, with the exact ones.

    The band assumes independent coups, which is nearly true for coups of one shoe. It never goes
    below zero.
    """
    stake = unit(variant)
    for bet, odds in exact(variant).items():
        coups = paid[bet].total()
        reach = _DEVIATIONS * _standard_error(odds, coups)
        yield Comparison(
            bet=bet,
            actual=Fraction(_sum(paid[bet].items()), coups * stake),
            exact=odds.rtp,
            low=max(odds.rtp - reach, Fraction()),
            high=odds.rtp + reach,
        )


def _allowed(variant: Variant, stakes: Mapping[str, int]) -> bool:
    try:
        variant.check(stakes)
    except SettlementError:
        return False
    return True


def _standard_error(odds: BetOdds, coups: int) -> Fraction:
    return Fraction(square_root(odds.variance / coups, _DECIMALS))


def _sum(payouts: Iterable[tuple[int, int]]) -> int:
    return sum(payout * times for payout, times in payouts)


COLUMNS = ("bet", "actual %", "exact %", "99 % from", "to", "")


@dataclass(frozen=True)
class Run:
    """A finished simulation."""

    variant: Variant
    coups: int
    seconds: float
    fast: bool
    bets: tuple[Comparison, ...]

    @property
    def per_second(self) -> int:
        """Coups per second."""
        return round(self.coups / self.seconds)


def as_json(run: Run) -> dict[str, Any]:
    """Return each return as "numerator/denominator", and in percent rounded to four decimals.

    `cut_card` is null if every coup comes from a fresh shuffle.
    """
    return {
        "variant": run.variant.slug,
        "decks": run.variant.decks,
        "cut_card": _cut_card(run.variant),
        "dealt_by": "arrays" if run.fast else "engine",
        "coups": run.coups,
        "coups_per_second": run.per_second,
        "bets": {each.bet: _bet(each) for each in run.bets},
    }


def as_table(run: Run) -> Iterator[str]:
    """Yield lines of text, with returns in percent."""
    yield f"{run.variant.slug}, rules {run.variant.version}: {run.coups:,} coups, {run.per_second:,} a second"
    yield f"Cards: {_shoes(run.variant)}, {_dealt(fast=run.fast)}."
    yield _row(COLUMNS)
    for each in run.bets:
        yield _row((each.bet, *_shares(each), "within" if each.within else "OUTSIDE"))
    yield "One bet in a hundred is outside its band by chance alone."


def _bet(each: Comparison) -> dict[str, Any]:
    actual, exact, low, high = _shares(each)
    return {
        "actual": f"{each.actual.numerator}/{each.actual.denominator}",
        "exact": f"{each.exact.numerator}/{each.exact.denominator}",
        "actual_percent": actual,
        "exact_percent": exact,
        "low_percent": low,
        "high_percent": high,
        "within": each.within,
    }


def _shares(each: Comparison) -> tuple[str, ...]:
    return tuple(percent(share, 4) for share in (each.actual, each.exact, each.low, each.high))


def _shoes(variant: Variant) -> str:
    decks = "one deck" if variant.decks == 1 else f"{variant.decks} decks"
    cut = _cut_card(variant)
    return (
        f"{decks}, shuffled before every coup"
        if cut is None
        else f"{decks}, dealt through to one coup after the cut card, {cut} before the end"
    )


def _cut_card(variant: Variant) -> int | None:
    return None if variant.shape is Shape.SOLO else CUT_CARD


def _dealt(*, fast: bool) -> str:
    if fast:
        return "dealt with NumPy arrays instead of the engine's shuffle and dealing"
    return "dealt by the engine through the shuffle of real rounds"


def _row(cells: tuple[str, ...]) -> str:
    bet, *figures = cells
    return (f"{bet:<14}" + "".join(f"{figure:>12}" for figure in figures)).rstrip()


Bytes = NDArray[np.uint8]
Words = NDArray[np.uint16]
Positions = NDArray[np.intp]

COUPS_AT_ONCE: Final = 1 << 15
SHOES_AT_ONCE: Final = 1 << 8

_MOST_CARDS: Final = 6
_DECK: Final = np.uint8(len(FULL_DECK))
_RANKS: Final = np.uint8(len(Rank))
_LAST_WITH_POINTS: Final = np.uint8(Rank.NINE.points)
_TEN: Final = np.uint8(10)
_PAIRINGS: Final = np.uint8(len(Pairing))


class Table(NamedTuple):
    """The result of a coup, indexed by the four digits of its opening."""

    classes: Words
    """The number of its class, with both pairings set to none."""
    cards: Bytes
    """The number of cards it takes."""


class Openings(NamedTuple):
    """Values that decide the coup that could begin at each position of a shoe."""

    digits: Words
    """In decimal: Player's two-card total, Banker's, points of the fifth card, of the sixth."""
    pairings: Words
    """Player's pairing times three, plus Banker's."""


CLASSES: Final = tuple(
    CoupClass(*facts) for facts in product(range(10), range(10), (False, True), tuple(Pairing), tuple(Pairing))
)
"""Every class by its number; some never occur."""


def simulate(variant: Variant, coups: int, progress: Callable[[int], None]) -> ReturnCounts:
    """Deal this number of coups and settle every bet on each.

    Calls `progress` with the number done.
    """
    counts = np.zeros(len(CLASSES), np.int64)
    done = 0
    while done < coups:
        classes = _deal_batch(variant)[: coups - done]
        counts += np.bincount(classes, minlength=len(CLASSES))
        done += len(classes)
        progress(done)
    return settle_classes(variant, counts)


def settle_classes(variant: Variant, counts: NDArray[np.int64]) -> ReturnCounts:
    """Return the payouts of every bet for these numbers of coups per class."""
    stake = unit(variant)
    paid: ReturnCounts = {bet.code: Counter() for bet in variant.bets}
    for number in np.flatnonzero(counts):
        for bet in variant.bets:
            pays = bet.pays(CLASSES[number])
            paid[bet.code][pays.payout(stake) if pays else 0] += int(counts[number])
    return paid


def first_coups(shoes: Bytes) -> Words:
    """Return the class of the first coup of each shoe.

    A row is a shoe; a card is its index in the unshuffled deck.
    """
    front = openings(shoes[:, :_MOST_CARDS])
    return _classes(front.digits, front.pairings).ravel()


def all_coups(shoes: Bytes) -> Words:
    """Return the classes of all coups from the burned cards to the one after the cut card.

    The order is the first coup of every shoe, then the second of every shoe, and so on.
    """
    every = openings(shoes)
    length = every.digits.shape[1]
    front: Positions = np.arange(len(shoes)) * length
    at = front + _burned()[shoes[:, 0]]
    cut = front + (shoes.shape[1] - CUT_CARD)
    digits, pairings = every.digits.ravel(), every.pairings.ravel()
    dealt: list[Words] = []
    while at.size:
        here = digits[at]
        dealt.append(_classes(here, pairings[at]))
        more = at <= cut
        at, cut = (at + _table().cards[here])[more], cut[more]
    return np.concatenate(dealt)


def openings(shoes: Bytes) -> Openings:
    """Return what would decide a coup at each position of each shoe that has enough
    cards after it.
    """
    ranks = shoes - shoes // _RANKS * _RANKS
    points = (ranks + np.uint8(1)) * (ranks < _LAST_WITH_POINTS)
    two_cards = _last_digit(points[:, :-2] + points[:, 2:])
    same_rank = ranks[:, :-2] == ranks[:, 2:]
    same_card = shoes[:, :-2] == shoes[:, 2:]
    pairing = same_rank.view(np.uint8) + same_card.view(np.uint8)

    starts = shoes.shape[1] - _MOST_CARDS + 1
    totals = two_cards[:, :starts] * _TEN + two_cards[:, 1 : starts + 1]
    thirds = points[:, 4 : starts + 4] * _TEN + points[:, 5:]
    pairings = pairing[:, :starts] * _PAIRINGS + pairing[:, 1 : starts + 1]
    return Openings(totals.astype(np.uint16) * np.uint16(100) + thirds, pairings.astype(np.uint16))


def fresh_fronts(decks: int, rows: int) -> Bytes:
    """Return the first six cards of at most *rows* freshly shuffled shoes: six random positions
    that all differ.
    """
    cards = len(FULL_DECK) * decks
    unbiased = (1 << 16) - (1 << 16) % cards
    drawn = np.frombuffer(os.urandom(2 * _MOST_CARDS * rows), np.uint16).reshape(_MOST_CARDS, rows)
    positions = drawn - drawn // np.uint16(cards) * np.uint16(cards)
    good = (drawn < unbiased).all(axis=0)
    for one, other in combinations(positions, 2):
        good &= one != other
    return _cards_at(positions.compress(good, axis=1)).T


def fresh_shoes(decks: int, rows: int) -> Bytes:
    """Return at most *rows* freshly shuffled shoes: cards sorted by random numbers
    that all differ.
    """
    cards = len(FULL_DECK) * decks
    mask = (1 << (cards - 1).bit_length()) - 1
    drawn = np.frombuffer(os.urandom(4 * cards * rows), np.uint32).reshape(rows, cards)
    numbers = drawn & np.uint32(0xFFFFFFFF ^ mask) | np.arange(cards, dtype=np.uint32)
    numbers.sort(axis=1)
    good = (numbers[:, 1:] ^ numbers[:, :-1] > mask).all(axis=1)
    return _cards_at((numbers[good] & np.uint32(mask)).astype(np.uint16))


def _deal_batch(variant: Variant) -> Words:
    if variant.shape is Shape.SOLO:
        return first_coups(fresh_fronts(variant.decks, COUPS_AT_ONCE))
    return all_coups(fresh_shoes(variant.decks, SHOES_AT_ONCE))


def _cards_at(positions: Words) -> Bytes:
    """Convert positions in several stacked decks to positions in one deck."""
    return (positions - positions // np.uint16(_DECK) * np.uint16(_DECK)).astype(np.uint8)


def _last_digit(sums: Bytes) -> Bytes:
    """Return the last digit of two-digit sums."""
    return sums - (sums >= _TEN) * _TEN


def _classes(digits: Words, pairings: Words) -> Words:
    return _table().classes[digits] + pairings


@cache
def _burned() -> Bytes:
    """Return the number of burned cards, by the first card's index in the unshuffled deck."""
    return np.array([opening((card,)).burned for card in FULL_DECK], np.uint8)


@cache
def _table() -> Table:
    """Build the lookup table: the engine deals every combination of points, ten thousand coups."""
    card = {card.points: card for card in FULL_DECK}
    nothing = card[0]
    coups = [
        deal((card[player], card[banker], nothing, nothing, card[fifth], card[sixth]))
        for player, banker, fifth, sixth in product(range(10), repeat=4)
    ]
    number = {facts: number for number, facts in enumerate(CLASSES)}
    unpaired = [
        number[CoupClass(coup.player_total, coup.banker_total, coup.natural, Pairing.NONE, Pairing.NONE)]
        for coup in coups
    ]
    return Table(np.array(unpaired, np.uint16), np.array([len(coup.cards) for coup in coups], np.uint8))


BATCH = 5_000
"""The number of coups between two progress reports."""


def simulate_by_engine(variant: Variant, coups: int, progress: Callable[[int], None]) -> ReturnCounts:
    """Deal this number of coups and settle every bet on each.

    Calls `progress` with the number done.
    """
    paid: ReturnCounts = {bet.code: Counter() for bet in variant.bets}
    stakes = slips(variant, unit(variant))
    dealt = deal_on(variant)
    for done in range(0, coups, BATCH):
        size = min(BATCH, coups - done)
        for coup in islice(dealt, size):
            for slip in stakes:
                for line in settle(variant, coup, slip).lines:
                    paid[line.bet][line.payout] += 1
        progress(done + size)
    return paid


def deal_on(variant: Variant) -> Iterator[Coup]:
    """Yield coups without end, as the game is dealt: each from a fresh shuffle, or
    shoe after shoe.
    """
    while True:
        cards = shuffle(os.urandom(SEED_BYTES), variant.decks)
        if variant.shape is Shape.SOLO:
            yield deal(cards)
        else:
            yield from coups_of_shoe(cards)
