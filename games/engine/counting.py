"""Every coup there is, counted.

A coup is counted as the number of ways in which six cards can leave the shoe one after another, whether the coup needs
all six or not: so all coups together are `52n * (52n - 1) * … * (52n - 5)` for n decks, fresh from the shuffle.

Cards are not gone through one by one. Hands of two cards are alike where their points and their pairing are; the first
four cards fall into some four thousand such combinations, and third cards matter only by their points.
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
from games.engine.coup import Pairing
from games.engine.tableau import NATURALS, banker_draws, player_draws

Shoe = Mapping[Rank, tuple[int, ...]]
"""How many cards of each rank are left, by suit."""

WaysByTotals = list[list[int]]
"""By Player's final total, then by Banker's."""


class BadDecks(ValueError):
    """There is no shoe of less than one deck."""


class TwoCards(NamedTuple):
    """All hands of two cards that are alike."""

    pairing: Pairing
    points: tuple[int, int]

    @property
    def total(self) -> int:
        return sum(self.points) % 10


@cache
def count_coups(decks: int) -> Mapping[CoupClass, int]:
    """In how many ways six cards in a row make a coup of each class. Raises BadDecks."""
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
    """Every kind of hand, and in how many ways two cards in a row make one."""
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
    """What a full shoe holds after any one hand of this kind; which one makes no difference to what follows."""
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
    """Add all coups that begin with these two-card totals, which can come about in so many ways.

    `left` is how many cards of each value the shoe still holds. The fifth and sixth card count whether drawn or not.
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
                row[(banker + third) % 10] -= ways * thirds  # the card Player holds was counted among Banker's
            else:
                row[banker] += ways * thirds * (cards - 1)
    elif banker_draws(banker, None):
        for third, thirds in enumerate(left):
            table[player][(banker + third) % 10] += ways * thirds * (cards - 1)
    else:
        table[player][banker] += ways * cards * (cards - 1)
