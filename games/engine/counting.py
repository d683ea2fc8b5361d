"""Counts all possible coups by class.

A coup is counted as the number of ordered ways to draw six cards from a fresh shoe, whether the
coup needs all six or not. So the counts for n decks add up to `52n * (52n - 1) * … * (52n - 5)`.

The count does not enumerate single cards. Two-card hands with the same points and pairing are
treated as one. The first four cards give some four thousand combinations, and third cards matter
only by their points.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from games.engine.cards import Rank
from games.engine.conditions import CoupClass
from games.engine.coup import NATURALS, Pairing, banker_draws, player_draws

Shoe = Mapping[Rank, tuple[int, ...]]
"""The number of cards left of each rank, by suit."""

WaysByTotals = list[list[int]]
"""Number of ways, by Player's final total, then by Banker's."""


class BadDecks(ValueError):
    """The number of decks is less than one."""


class TwoCards(NamedTuple):
    """All two-card hands with the same points and pairing."""

    pairing: Pairing
    points: tuple[int, int]

    @property
    def total(self) -> int:
        return sum(self.points) % 10


@cache
def count_coups(decks: int) -> Mapping[CoupClass, int]:
    """Return the number of six-card sequences for each class of coup. Raises BadDecks."""
    if decks < 1:
        raise BadDecks(f"there is no shoe of {decks} decks")
    full: Shoe = dict.fromkeys(Rank, (decks, decks, decks, decks))
    tables: defaultdict[tuple[bool, Pairing, Pairing], WaysByTotals] = defaultdict(_no_ways)
    for player, player_ways in _hands(full):
        rest = _without(full, player)
        cards_left = _cards_by_points(rest)
        for banker, banker_ways in _hands(rest):
            left = cards_left.copy()
            for points in banker.points:
                left[points] -= 1
            natural = player.total in NATURALS or banker.total in NATURALS
            table = tables[natural, player.pairing, banker.pairing]
            _add_third_cards(table, player.total, banker.total, left, player_ways * banker_ways)
    return MappingProxyType(
        {
            CoupClass(player_total, banker_total, *key): ways
            for key, table in tables.items()
            for player_total, row in enumerate(table)
            for banker_total, ways in enumerate(row)
            if ways
        }
    )


def _no_ways() -> WaysByTotals:
    return [[0] * 10 for _ in range(10)]


def _hands(shoe: Shoe) -> Iterator[tuple[TwoCards, int]]:
    """Return every kind of two-card hand with the number of ordered ways to draw it."""
    hands: Counter[TwoCards] = Counter()
    left = {rank: sum(suits) for rank, suits in shoe.items()}
    for one, other in combinations(Rank, 2):
        points = (one.points, other.points)
        hands[TwoCards(Pairing.NONE, (min(points), max(points)))] += 2 * left[one] * left[other]
    for rank, suits in shoe.items():
        points = (rank.points, rank.points)
        of_one_suit = sum(cards * (cards - 1) for cards in suits)
        hands[TwoCards(Pairing.RANK_AND_SUIT, points)] += of_one_suit
        hands[TwoCards(Pairing.RANK, points)] += left[rank] * (left[rank] - 1) - of_one_suit
    return ((hand, ways) for hand, ways in hands.items() if ways)


def _without(full: Shoe, hand: TwoCards) -> Shoe:
    """Return the contents of a full shoe after one hand of this kind is dealt.

    All hands of one kind give the same counts afterwards.
    """
    low, high = hand.points
    one = next(rank for rank in Rank if rank.points == low)
    other = one if hand.pairing is not Pairing.NONE else next(r for r in Rank if r.points == high and r is not one)
    left = {rank: list(suits) for rank, suits in full.items()}
    left[one][0] -= 1
    left[other][1 if hand.pairing is Pairing.RANK else 0] -= 1
    return {rank: tuple(suits) for rank, suits in left.items()}


def _cards_by_points(shoe: Shoe) -> list[int]:
    left = [0] * 10
    for rank, suits in shoe.items():
        left[rank.points] += sum(suits)
    return left


def _add_third_cards(table: WaysByTotals, player: int, banker: int, left: list[int], ways: int) -> None:
    """Add all coups that begin with these two-card totals.

    *ways* is the number of ways to reach the totals. *left* is the number of cards left in the shoe
    by points. The fifth and the sixth card are counted whether they are drawn or not.
    """
    cards = sum(left)
    if player in NATURALS or banker in NATURALS:
        table[player][banker] += ways * cards * (cards - 1)
    elif player_draws(player):
        for third, thirds in enumerate(left):
            row = table[(player + third) % 10]
            if banker_draws(banker, third):
                for fourth, fourths in enumerate(left):
                    row[(banker + fourth) % 10] += ways * thirds * fourths
                row[(banker + third) % 10] -= ways * thirds  # one card cannot serve both
            else:
                row[banker] += ways * thirds * (cards - 1)
    elif banker_draws(banker, None):
        for third, thirds in enumerate(left):
            table[player][(banker + third) % 10] += ways * thirds * (cards - 1)
    else:
        table[player][banker] += ways * cards * (cards - 1)
