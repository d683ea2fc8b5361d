"""Exact chances of Chemin de Fer under the house rule, for every way of using its three free choices.

The rule leaves three choices: the punter's on five, the banker's with three against a nine and with five against a
four. Whoever keeps to the rule has no other, so eight policies are all there are. Chances are those of a fresh shoe.

What chance alone explains: mean and variance of what a punter and a banker win, for each unit at risk.

Both are exact, for six decks and sides that keep to the rule. Tax is taken as exactly 5 %; what rounding it down
leaves to the banker is less than one minor unit a coup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import perm
from typing import Any, Final, NamedTuple

from games.engine.cards import FULL_DECK
from games.engine.chemin.machine import AT_A_FREE_CHOICE
from games.engine.chemin.rules import DECKS, TAX, Advice, Outcome, Side, banker_rule, outcome_of, punter_rule
from games.engine.counting import BadDecks
from games.engine.odds import percent
from games.engine.tableau import NATURALS

Left = tuple[int, ...]
"""How many cards of 0, 1, … 9 points a shoe still holds."""


@dataclass(frozen=True, slots=True)
class PolicyOdds:
    """One use of the free choices and what comes of it. Chances add up to one."""

    punter_on_5: Advice
    banker_3_9: Advice
    banker_5_4: Advice
    punter_win: Fraction
    draw: Fraction
    banker_win: Fraction

    @property
    def punter(self) -> Fraction:
        """What the punters gain per unit staked; they pay no tax."""
        return self.punter_win - self.banker_win

    @property
    def banker_after_tax(self) -> Fraction:
        """What the banker gains per unit the punters stake, before rounding."""
        return self.banker_win * (1 - TAX) - self.punter_win


class Line(NamedTuple):
    """A course a coup can take within the rule: the two-card totals and who drew."""

    punter: int
    banker: int
    punter_third: int | None
    banker_draws: bool

    @property
    def natural(self) -> bool:
        """Whether the first four cards decided."""
        return self.punter in NATURALS or self.banker in NATURALS


def chemin_odds(decks: int = DECKS) -> tuple[PolicyOdds, ...]:
    """The odds of all eight policies. Raises BadDecks."""
    if decks < 1:
        raise BadDecks(f"there is no shoe of {decks} decks")
    choices = (Advice.DRAW, Advice.STAND)
    return tuple(_policy_odds(decks, *policy) for policy in product(choices, repeat=3))


def _policy_odds(decks: int, punter_on_5: Advice, banker_3_9: Advice, banker_5_4: Advice) -> PolicyOdds:
    ways: Counter[Outcome] = Counter()
    for line, outcomes in _count_lines(decks).items():
        if _keeps_to(line, punter_on_5, banker_3_9, banker_5_4):
            ways.update(outcomes)
    chances = (Fraction(ways[outcome], ways.total()) for outcome in (Outcome.PUNTER, Outcome.DRAW, Outcome.BANKER))
    return PolicyOdds(punter_on_5, banker_3_9, banker_5_4, *chances)


def _keeps_to(line: Line, punter_on_5: Advice, banker_3_9: Advice, banker_5_4: Advice) -> bool:
    """Whether a line is the one a policy leads to: where it comes to a free choice, the policy's is made."""
    if line.natural:
        return True
    if line.punter == 5 and not punter_on_5.allows(line.punter_third is not None):
        return False
    match line.banker, line.punter_third:
        case 3, 9:
            return banker_3_9.allows(line.banker_draws)
        case 5, 4:
            return banker_5_4.allows(line.banker_draws)
        case _:
            return True


@cache
def _count_lines(decks: int) -> Mapping[Line, Counter[Outcome]]:
    """In how many ways six cards in a row run along each line to each outcome.

    All six are counted whether a line needs them or not, so that every policy's ways add up to the same number.
    """
    lines: dict[Line, Counter[Outcome]] = {}
    full = Counter(card.points for card in FULL_DECK * decks)
    for punter, punter_ways, rest in hands(tuple(full[points] for points in range(10))):
        for banker, banker_ways, left in hands(rest):
            for line, outcome, third_cards in _third_cards(punter, banker, left):
                lines.setdefault(line, Counter())[outcome] += punter_ways * banker_ways * third_cards
    return lines


def hands(left: Left) -> Iterator[tuple[int, int, Left]]:
    """The total of every pair of points, the ways to be dealt it from these cards, and what it leaves."""
    for one, other in combinations_with_replacement(range(10), 2):
        after_one = without(left, one)
        orders = 1 if one == other else 2
        yield (one + other) % 10, orders * left[one] * after_one[other], without(after_one, other)


def _third_cards(punter: int, banker: int, left: Left) -> Iterator[tuple[Line, Outcome, int]]:
    """Every line from these two-card totals, its outcomes, and the ways in which two more cards lead there."""
    cards = sum(left)
    if punter in NATURALS or banker in NATURALS:
        yield Line(punter, banker, None, banker_draws=False), outcome_of(punter, banker), perm(cards, 2)
        return
    advice = punter_rule(punter)
    if advice.allows(draws=False):
        yield from _fourth_cards(punter, Line(punter, banker, None, banker_draws=False), left, cards - 1)
    if advice.allows(draws=True):
        for third, thirds in enumerate(left):
            line = Line(punter, banker, third, banker_draws=False)
            yield from _fourth_cards((punter + third) % 10, line, without(left, third), thirds)


def _fourth_cards(punter_final: int, line: Line, left: Left, ways: int) -> Iterator[tuple[Line, Outcome, int]]:
    """The same once the punter has finished: the banker draws, stands, or may do either.

    `ways` counts the punter's third card, or where he stood the last of the six, which nobody takes.
    """
    advice = banker_rule(line.banker, line.punter_third)
    if advice.allows(draws=False):
        yield line, outcome_of(punter_final, line.banker), ways * sum(left)
    if advice.allows(draws=True):
        drawing = line._replace(banker_draws=True)
        for card, cards in enumerate(left):
            yield drawing, outcome_of(punter_final, (line.banker + card) % 10), ways * cards


def without(left: Left, points: int) -> Left:
    return (*left[:points], left[points] - 1, *left[points + 1 :])


class Chance(NamedTuple):
    """Of the result of one coup, for each unit at risk: above zero is gain."""

    mean: Fraction
    variance: Fraction


@cache
def usual_chance(side: Side) -> Chance:
    """The chance where the free choices are made as the croupier makes them: the punter stands, the banker draws."""
    punter, banker = AT_A_FREE_CHOICE[Side.PUNTER], AT_A_FREE_CHOICE[Side.BANKER]
    (usual,) = (
        odds
        for odds in chemin_odds()
        if (odds.punter_on_5, odds.banker_3_9, odds.banker_5_4) == (punter, banker, banker)
    )
    return _chance(side, usual)


@cache
def worst_chance(side: Side) -> Chance:
    """The chance with the lowest mean that either side's free choices can bring this one within the rule."""
    return min(_chance(side, odds) for odds in chemin_odds())


def _chance(side: Side, odds: PolicyOdds) -> Chance:
    if side is Side.PUNTER:
        return _moments(odds.punter_win, Fraction(1), odds.banker_win)
    return _moments(odds.banker_win, 1 - TAX, odds.punter_win)


def _moments(win: Fraction, gain: Fraction, lose: Fraction) -> Chance:
    """Of winning `gain` or losing one, each with its chance, and nothing otherwise."""
    mean = win * gain - lose
    return Chance(mean, win * gain**2 + lose - mean**2)


SLUG: Final = "chemin_de_fer"

COLUMNS: Final = (
    "punter on 5",
    "banker 3:9",
    "banker 5:4",
    "punter wins %",
    "draw %",
    "banker wins %",
    "punter %",
    "banker, taxed %",
)


def chemin_odds_json(decks: int = DECKS) -> dict[str, Any]:
    """Every chance and value as "numerator/denominator". Raises BadDecks."""
    policies = [
        _choices(odds) | {name: _written(share) for name, share in _shares(odds)} for odds in chemin_odds(decks)
    ]
    return {"variant": SLUG, "decks": decks, "policies": policies}


def chemin_odds_table(decks: int = DECKS) -> list[str]:
    """Lines of text. The last two columns are gains in percent of what the punters stake. Raises BadDecks."""
    rows = (
        (*_choices(odds).values(), *(percent(share, 4) for _, share in _shares(odds))) for odds in chemin_odds(decks)
    )
    return [f"{SLUG}, decks: {decks}", _row(COLUMNS), *(_row(row) for row in rows)]


def _choices(odds: PolicyOdds) -> dict[str, str]:
    return {
        "punter_on_5": odds.punter_on_5.value,
        "banker_3_9": odds.banker_3_9.value,
        "banker_5_4": odds.banker_5_4.value,
    }


def _shares(odds: PolicyOdds) -> list[tuple[str, Fraction]]:
    names = ("punter_win", "draw", "banker_win", "punter", "banker_after_tax")
    return [(name, getattr(odds, name)) for name in names]


def _written(share: Fraction) -> str:
    return f"{share.numerator}/{share.denominator}"


def _row(cells: tuple[str, ...]) -> str:
    return "".join(f"{cell:>17}" for cell in cells)
