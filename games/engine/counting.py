"""Counts all possible coups by class.

A coup is counted as the number of ordered ways to draw six cards from a fresh shoe, whether the
coup needs all six or not. So the counts for n decks add up to `52n * (52n - 1) * … * (52n - 5)`.

The count does not enumerate single cards. Two-card hands with the same points and pairing are
treated as one. The first four cards give some four thousand combinations, and third cards matter
only by their points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import combinations_with_replacement
from types import MappingProxyType
from typing import Final, NamedTuple

from games.engine.cards import Rank
from games.engine.conditions import EVERY_COUP, CoupClass
from games.engine.coup import NATURALS, Pairing, banker_draws, player_draws

Shoe = tuple[tuple[int, ...], ...]
"""The number of cards left of each rank, in the order of `Rank`, by suit."""

WaysByTotals = list[list[int]]
"""Number of ways, by Player's final total, then by Banker's."""

POINTS: Final = tuple(rank.points for rank in Rank)


class BadDecks(ValueError):
    """The number of decks is less than one."""


class TwoCards(NamedTuple):
    """All two-card hands with the same points and pairing."""

    pairing: Pairing
    points: tuple[int, int]
    ranks: tuple[tuple[int, int], ...]
    """Positions in `Rank` of every pair of ranks that has these points."""

    @property
    def total(self) -> int:
        return sum(self.points) % 10


@cache
def count_coups(decks: int) -> Mapping[CoupClass, int]:
    """Return the number of six-card sequences for each class of coup. Raises BadDecks."""
    if decks < 1:
        raise BadDecks(f"there is no shoe of {decks} decks")
    full: Shoe = ((decks,) * 4,) * len(Rank)
    tables: defaultdict[tuple[bool, Pairing, Pairing], WaysByTotals] = defaultdict(_no_ways)
    hands = [(hand, hand.total) for hand in _kinds()]
    for player, player_total in hands:
        player_ways = _ways(player, full)
        rest = _without(full, player)
        cards_left = _cards_by_points(rest)
        for banker, banker_total in hands:
            left = cards_left.copy()
            for points in banker.points:
                left[points] -= 1
            natural = player_total in NATURALS or banker_total in NATURALS
            table = tables[natural, player.pairing, banker.pairing]
            _add_third_cards(table, player_total, banker_total, left, player_ways * _ways(banker, rest))
    return MappingProxyType(
        {
            CoupClass(player_total, banker_total, *key): ways
            for key, table in tables.items()
            for player_total, row in enumerate(table)
            for banker_total, ways in enumerate(row)
            if ways
        }
    )


@cache
def count_every_coup(decks: int) -> tuple[int, ...]:
    """Return the number of six-card sequences for each coup of `EVERY_COUP`. Raises BadDecks."""
    counted = count_coups(decks)
    return tuple(counted.get(coup, 0) for coup in EVERY_COUP)


def _no_ways() -> WaysByTotals:
    return [[0] * 10 for _ in range(10)]


@cache
def _kinds() -> tuple[TwoCards, ...]:
    """Return every kind of two-card hand."""
    unpaired: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    pairs: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for one, other in combinations_with_replacement(range(len(Rank)), 2):
        low, high = sorted((POINTS[one], POINTS[other]))
        (pairs if one == other else unpaired)[low, high].append((one, other))
    return (
        *(TwoCards(Pairing.NONE, points, tuple(ranks)) for points, ranks in unpaired.items()),
        *(TwoCards(Pairing.RANK, points, tuple(ranks)) for points, ranks in pairs.items()),
        *(TwoCards(Pairing.RANK_AND_SUIT, points, tuple(ranks)) for points, ranks in pairs.items()),
    )


def _ways(hand: TwoCards, shoe: Shoe) -> int:
    """Return the number of ordered ways to draw a hand of this kind."""
    if hand.pairing is Pairing.NONE:
        return 2 * sum(sum(shoe[one]) * sum(shoe[other]) for one, other in hand.ranks)
    of_one_suit = sum(cards * (cards - 1) for rank, _ in hand.ranks for cards in shoe[rank])
    if hand.pairing is Pairing.RANK_AND_SUIT:
        return of_one_suit
    return sum(sum(shoe[rank]) * (sum(shoe[rank]) - 1) for rank, _ in hand.ranks) - of_one_suit


def _without(full: Shoe, hand: TwoCards) -> Shoe:
    """Return the contents of a full shoe after one hand of this kind is dealt.

    All hands of one kind give the same counts afterwards.
    """
    one, other = hand.ranks[0]
    left = [list(suits) for suits in full]
    left[one][0] -= 1
    left[other][1 if hand.pairing is Pairing.RANK else 0] -= 1
    return tuple(map(tuple, left))


def _cards_by_points(shoe: Shoe) -> list[int]:
    left = [0] * 10
    for points, suits in zip(POINTS, shoe, strict=True):
        left[points] += sum(suits)
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
