"""The game with a banker who is free in all decisions, solved and compared with the published
value.

The shoe is endless, so only totals matter, and the punter is free on five only. The value and the
punter's probability of drawing on five, 9/11, are published in J. G. Kemeny and J. L. Snell,
"Game-Theoretic Solution of Baccarat" (American Mathematical Monthly, 1957). It is a different game
from the eight policies under the house rule.

The punter has two strategies, to draw or to stand on five. The banker has 2 to the power of 88: one
decision for each total 0 to 7 and each of eleven observations. Against any mixture of the punter's
two, the banker's best reply is the better decision in each of the 88 cases. So the value is the
maximum of a sum of minima of straight lines.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import NamedTuple

from games.engine.chemin.rules import Outcome, outcome_of

CARD = [Fraction(4 if points == 0 else 1, 13) for points in range(10)]
"""The probability of each number of points in an endless shoe."""

TWO_CARDS = [sum((CARD[one] * CARD[(total - one) % 10] for one in range(10)), Fraction()) for total in range(10)]
"""The probability of each two-card total."""

NATURALS = (8, 9)
SEEN = (None, *range(10))
"""The banker's observation: the punter stood (None), or the third card."""


class Gain(NamedTuple):
    """The gain of a punter who always stands on five, and of one who always draws."""

    stand: Fraction
    drawing: Fraction

    def at(self, chance: Fraction) -> Fraction:
        """Return the gain of a punter who draws on five with this probability."""
        return (1 - chance) * self.stand + chance * self.drawing


class Case(NamedTuple):
    """One of the banker's 88 cases: the punter's gain if the banker stands, and if the banker
    draws.
    """

    banker: int
    seen: int | None
    on_stand: Gain
    draws: Gain

    def indifferent_at(self) -> list[Fraction]:
        """Return the probability of drawing on five at which both decisions of the banker are
        equally good.
        """
        at_zero = self.draws.stand - self.on_stand.stand
        at_one = self.draws.drawing - self.on_stand.drawing
        if at_zero == at_one:
            return []
        crossing = at_zero / (at_zero - at_one)
        return [crossing] if 0 <= crossing <= 1 else []


def sign(punter: int, banker: int) -> int:
    return {Outcome.PUNTER: 1, Outcome.DRAW: 0, Outcome.BANKER: -1}[outcome_of(punter, banker)]


def punters_who_stood(*, draws_on_five: bool) -> dict[int, Fraction]:
    """Return the punter's final totals after stand, with their probabilities."""
    return {total: TWO_CARDS[total] for total in ((6, 7) if draws_on_five else (5, 6, 7))}


def punters_who_drew(third: int, *, draws_on_five: bool) -> dict[int, Fraction]:
    """Return the punter's final totals after drawing this card, with their probabilities."""
    totals = range(6) if draws_on_five else range(5)
    return {(total + third) % 10: TWO_CARDS[total] * CARD[third] for total in totals}


def gain(banker: int, punters: dict[int, Fraction]) -> tuple[Fraction, Fraction]:
    """Return the punter's gain against this two-card total if the banker stands, and if the banker
    draws.
    """
    on_stand = sum((chance * sign(total, banker) for total, chance in punters.items()), Fraction())
    draws = sum(
        (
            chance * CARD[card] * sign(total, (banker + card) % 10)
            for total, chance in punters.items()
            for card in range(10)
        ),
        Fraction(),
    )
    return TWO_CARDS[banker] * on_stand, TWO_CARDS[banker] * draws


def case(banker: int, seen: int | None) -> Case:
    gains = []
    for draws_on_five in (False, True):
        if seen is None:
            punters = punters_who_stood(draws_on_five=draws_on_five)
        else:
            punters = punters_who_drew(seen, draws_on_five=draws_on_five)
        gains.append(gain(banker, punters))
    (stand_if_stood, draws_if_stood), (stand_if_drew, draws_if_drew) = gains
    return Case(banker, seen, Gain(stand_if_stood, stand_if_drew), Gain(draws_if_stood, draws_if_drew))


CASES = [case(banker, seen) for banker in range(8) for seen in SEEN]

NATURAL_GAIN = sum(
    (
        TWO_CARDS[punter] * TWO_CARDS[banker] * sign(punter, banker)
        for punter, banker in product(range(10), repeat=2)
        if punter in NATURALS or banker in NATURALS
    ),
    Fraction(),
)


def punter_gain(chance: Fraction) -> Fraction:
    """Return the gain of a punter who draws on five with this probability, against the best
    reply.
    """
    return NATURAL_GAIN + sum(min(case.on_stand.at(chance), case.draws.at(chance)) for case in CASES)


def solve() -> tuple[Fraction, Fraction]:
    """Return the punter's best probability of drawing on five and the value.

    The maximum is at a break of a line.
    """
    breaks = [Fraction(0), Fraction(1), *(chance for case in CASES for chance in case.indifferent_at())]
    best = max(breaks, key=punter_gain)
    return best, punter_gain(best)


def test_the_published_value_of_the_game_with_a_free_banker() -> None:
    assert solve() == (Fraction(9, 11), Fraction(-679568, 53094899))


def test_the_banker_holds_the_punter_to_that_value_by_mixing_on_six_against_a_punter_who_stands() -> None:
    """The other half of the proof: a strategy of the banker that gives both of the punter's
    strategies exactly the value.
    """
    chance, value = solve()
    undecided = [case for case in CASES if case.on_stand.at(chance) == case.draws.at(chance)]
    assert [(case.banker, case.seen) for case in undecided] == [(6, None)]
    (six,) = undecided
    decided = [case for case in CASES if case is not six]
    rest = [case.on_stand if case.on_stand.at(chance) < case.draws.at(chance) else case.draws for case in decided]
    stand = NATURAL_GAIN + sum(gain.stand for gain in rest)
    drawing = NATURAL_GAIN + sum(gain.drawing for gain in rest)
    mixing = Fraction(859, 2288)
    assert stand + (1 - mixing) * six.on_stand.stand + mixing * six.draws.stand == value
    assert drawing + (1 - mixing) * six.on_stand.drawing + mixing * six.draws.drawing == value
