"""The cost of departures from the rule, counted independently: by single cards, and by known
properties of the game.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Final

import pytest

from games.engine.cards import FULL_DECK
from games.engine.chemin import Outcome, Side
from games.engine.chemin.odds import Decision, chances_of, departure_costs
from games.engine.chemin.rules import DECKS, Advice, banker_rule, outcome_of, punter_rule
from tests.harness.sweeps import sample

POINTS: Final = Counter(card.points for card in FULL_DECK * DECKS)
GAIN: Final = {Outcome.PUNTER: 1, Outcome.DRAW: 0, Outcome.BANKER: -1}  # for the punter


def ways(*cards: int) -> int:
    """Return the number of orders of six decks that start with these points."""
    left, count = Counter(POINTS), 1
    for points in cards:
        count *= left[points]
        left[points] -= 1
    return count


def banker_takes(total: int, third: int | None) -> bool:
    advice = banker_rule(total, third)
    return advice is not Advice.STAND  # at a free choice the croupier draws for the banker


def punter_worth(pair: tuple[int, ...], draws: bool) -> Fraction:
    """Return the punter's gain on one unit with these two cards, over all two or three cards that
    follow.
    """
    total = sum(pair) % 10
    gained = weight = 0
    for banker in product(range(10), repeat=2):
        theirs = sum(banker) % 10
        for one, other in product(range(10), repeat=2):
            count = ways(*pair, *banker, one, other)
            weight += count
            if theirs >= 8:
                gained -= count
                continue
            third = one if draws else None
            final = (total + one) % 10 if draws else total
            card = other if draws else one
            banks = (theirs + card) % 10 if banker_takes(theirs, third) else theirs
            gained += count * GAIN[outcome_of(final, banks)]
    return Fraction(gained, weight)


def worth_over_pairs(total: int, draws: bool) -> Fraction:
    pairs = [pair for pair in product(range(10), repeat=2) if sum(pair) % 10 == total]
    weights = [ways(*pair) for pair in pairs]
    return sum(
        (punter_worth(pair, draws) * weight for pair, weight in zip(pairs, weights, strict=True)), Fraction()
    ) / sum(weights)


@pytest.mark.parametrize("total", sample([0, 6], 1))
def test_a_punter_s_departure_costs_what_counting_all_cards_says(total):
    by_rule = punter_rule(total) is Advice.DRAW
    worth = worth_over_pairs(total, by_rule)
    expected = worth - worth_over_pairs(total, not by_rule)
    assert departure_costs()[Decision(Side.PUNTER, total, None, not by_rule)] == expected
    usual = chances_of(Decision(Side.PUNTER, total, None, by_rule))
    assert (usual.win - usual.lose, sum(usual)) == (worth, 1)


def test_a_banker_who_stands_on_six_against_a_six_loses_what_the_cards_left_say():
    """The punter draws on a total of 0 to 4 and gets a six; then the banker draws one card or
    none.
    """
    gained: Counter[bool] = Counter()
    weight: Counter[bool] = Counter()
    for punter in product(range(10), repeat=2):
        if sum(punter) % 10 > 4:
            continue
        final = (sum(punter) + 6) % 10
        for banker in product(range(10), repeat=2):
            if sum(banker) % 10 != 6:
                continue
            for card in range(10):
                count = ways(*punter, *banker, 6, card)
                for draws, banks in ((False, 6), (True, (6 + card) % 10)):
                    gained[draws] -= count * GAIN[outcome_of(final, banks)]
                    weight[draws] += count
    expected = Fraction(gained[True], weight[True]) - Fraction(gained[False], weight[False])
    assert departure_costs()[Decision(Side.BANKER, 6, 6, False)] == expected


def test_there_is_a_cost_for_every_departure_and_for_nothing_else():
    thirds = (None, *range(10))
    punter = {
        Decision(Side.PUNTER, total, None, draws)
        for total, draws in product(range(8), (False, True))
        if not punter_rule(total).allows(draws)
    }
    banker = {
        Decision(Side.BANKER, total, third, draws)
        for total, third, draws in product(range(8), thirds, (False, True))
        if not banker_rule(total, third).allows(draws)
    }
    assert set(departure_costs()) == punter | banker


def test_the_rule_is_good_all_but_one_departure_loses():
    gaining = {decision for decision, cost in departure_costs().items() if cost < 0}
    assert gaining == {Decision(Side.BANKER, 4, 2, True)}
    assert max(departure_costs().values()) < Fraction(11, 10)
