"""Two simulators: with NumPy arrays, and with the engine of real rounds.

The engine defines what a coup is: it deals every combination of points once into a lookup table and
settles every class of coups once. The arrays only add points, follow each shoe from coup to coup,
and count. Random numbers come from the operating system, but the cards are ordered by another
method than the house's shuffle.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, islice, product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from games.engine.bets import Shape, Variant
from games.engine.cards import FULL_DECK, Rank
from games.engine.conditions import CoupClass
from games.engine.coup import Coup, Pairing, deal
from games.engine.dealing import CUT_CARD, opening
from games.engine.dealing import coups as coups_of_shoe
from games.engine.settle import settle
from games.engine.shoe import SEED_BYTES, shuffle
from games.simulation.tally import ReturnCounts, slips, unit

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
    """What decides the coup that could begin at each position of a shoe."""

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
    tally: ReturnCounts = {bet.code: Counter() for bet in variant.bets}
    for number in np.flatnonzero(counts):
        for bet in variant.bets:
            pays = bet.pays(CLASSES[number])
            tally[bet.code][pays.payout(stake) if pays else 0] += int(counts[number])
    return tally


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
    places = drawn - drawn // np.uint16(cards) * np.uint16(cards)
    good = (drawn < unbiased).all(axis=0)
    for one, other in combinations(places, 2):
        good &= one != other
    return _cards_at(places.compress(good, axis=1)).T


def fresh_shoes(decks: int, rows: int) -> Bytes:
    """Return at most *rows* freshly shuffled shoes: cards sorted by random numbers
    that all differ.
    """
    cards = len(FULL_DECK) * decks
    places = (1 << (cards - 1).bit_length()) - 1
    drawn = np.frombuffer(os.urandom(4 * cards * rows), np.uint32).reshape(rows, cards)
    numbers = drawn & np.uint32(0xFFFFFFFF ^ places) | np.arange(cards, dtype=np.uint32)
    numbers.sort(axis=1)
    good = (numbers[:, 1:] ^ numbers[:, :-1] > places).all(axis=1)
    return _cards_at((numbers[good] & np.uint32(places)).astype(np.uint16))


def _deal_batch(variant: Variant) -> Words:
    if variant.shape is Shape.SOLO:
        return first_coups(fresh_fronts(variant.decks, COUPS_AT_ONCE))
    return all_coups(fresh_shoes(variant.decks, SHOES_AT_ONCE))


def _cards_at(places: Words) -> Bytes:
    """Convert positions in several stacked decks to positions in one deck."""
    return (places - places // np.uint16(_DECK) * np.uint16(_DECK)).astype(np.uint8)


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
    tally: ReturnCounts = {bet.code: Counter() for bet in variant.bets}
    stakes = slips(variant, unit(variant))
    dealt = deal_on(variant)
    for done in range(0, coups, BATCH):
        size = min(BATCH, coups - done)
        for coup in islice(dealt, size):
            for slip in stakes:
                for line in settle(variant, coup, slip).lines:
                    tally[line.bet][line.payout] += 1
        progress(done + size)
    return tally


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
