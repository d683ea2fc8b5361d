"""Exact odds of Chemin de Fer under the house rule, for each use of its three free choices, and the
cost of departures from the rule, which are allowed if a single punter plays against the banker.

The free choices are the punter's on five, the banker's with three against a nine, and the banker's
with five against a four. Within the rule there are no other choices, so there are eight policies.
Probabilities are those of a fresh shoe.

Mean and variance of the result of a punter and of a banker, per unit at risk, are exact for six
decks and sides that follow the rule. The tax is taken as exactly 5 %. Rounding it down gives the
banker less than one minor unit per coup. The odds can be written as a text table or as JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
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
from games.engine.coup import NATURALS
from games.engine.odds import percent

Left = tuple[int, ...]
"""The number of cards of 0, 1, … 9 points left in a shoe."""


@dataclass(frozen=True, slots=True)
class PolicyOdds:
    """One use of the free choices and its odds. The probabilities add up to one."""

    punter_on_5: Advice
    banker_3_9: Advice
    banker_5_4: Advice
    punter_win: Fraction
    draw: Fraction
    banker_win: Fraction

    @property
    def punter(self) -> Fraction:
        """The punters' gain per unit staked. Punters pay no tax."""
        return self.punter_win - self.banker_win

    @property
    def banker_after_tax(self) -> Fraction:
        """The banker's gain per unit that the punters stake, after tax and before rounding."""
        return self.banker_win * (1 - TAX) - self.punter_win


class Line(NamedTuple):
    """One course of a coup within the rule: the two-card totals and who drew."""

    punter: int
    banker: int
    punter_third: int | None
    banker_draws: bool

    @property
    def natural(self) -> bool:
        """True if the first four cards decided the coup."""
        return self.punter in NATURALS or self.banker in NATURALS


def chemin_odds(decks: int = DECKS) -> tuple[PolicyOdds, ...]:
    """Return the odds of all eight policies. Raises BadDecks."""
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
    """Return whether a course follows a policy at each free choice."""
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
    """Return the number of six-card sequences for each course and outcome.

    All six cards are counted whether the course needs them or not, so the ways of every policy have
    the same sum.
    """
    lines: dict[Line, Counter[Outcome]] = {}
    full = Counter(card.points for card in FULL_DECK * decks)
    for punter, punter_ways, rest in hands(tuple(full[points] for points in range(10))):
        for banker, banker_ways, left in hands(rest):
            for line, outcome, third_cards in _third_cards(punter, banker, left):
                lines.setdefault(line, Counter())[outcome] += punter_ways * banker_ways * third_cards
    return lines


def hands(left: Left) -> Iterator[tuple[int, int, Left]]:
    """Yield the total of each pair of points, the number of ways to draw it, and the cards left."""
    for one, other in combinations_with_replacement(range(10), 2):
        after_one = without(left, one)
        orders = 1 if one == other else 2
        yield (one + other) % 10, orders * left[one] * after_one[other], without(after_one, other)


def _third_cards(punter: int, banker: int, left: Left) -> Iterator[tuple[Line, Outcome, int]]:
    """Yield each course from these two-card totals with its outcome and the number of ways for two
    more cards.
    """
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
    """Yield each course after the punter's decision: the banker draws, stands, or may do either.

    `ways` counts the punter's third card or, if the punter stood, the last of the six cards, which
    is not dealt.
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
    """Mean and variance of the result of one coup, per unit at risk. Above zero is a gain."""

    mean: Fraction
    variance: Fraction


@cache
def usual_chance(side: Side) -> Chance:
    """Return the mean and variance with the croupier's free choices: the punter stands, the banker
    draws.
    """
    punter, banker = AT_A_FREE_CHOICE[Side.PUNTER], AT_A_FREE_CHOICE[Side.BANKER]
    (usual,) = (
        odds
        for odds in chemin_odds()
        if (odds.punter_on_5, odds.banker_3_9, odds.banker_5_4) == (punter, banker, banker)
    )
    return _chance(side, usual)


@cache
def worst_chance(side: Side) -> Chance:
    """Return the lowest mean for this side over all free choices of both sides within the rule."""
    return min(_chance(side, odds) for odds in chemin_odds())


def _chance(side: Side, odds: PolicyOdds) -> Chance:
    if side is Side.PUNTER:
        return _moments(odds.punter_win, Fraction(1), odds.banker_win)
    return _moments(odds.banker_win, 1 - TAX, odds.punter_win)


def _moments(win: Fraction, gain: Fraction, lose: Fraction) -> Chance:
    """Return the moments of a result that is *gain*, minus one or zero, for these probabilities."""
    mean = win * gain - lose
    return Chance(mean, win * gain**2 + lose - mean**2)


class Decision(NamedTuple):
    """A decision to draw or stand, with what the side knows at that moment."""

    side: Side
    pair_total: int
    """The total of the side's own two cards, 0 to 7."""
    punter_third: int | None
    """Points of the punter's third card if the banker decides; None if there is none."""
    draws: bool


class Shares(NamedTuple):
    """Probabilities that a side wins, draws and loses. They add up to one."""

    win: Fraction
    draw: Fraction
    lose: Fraction


@cache
def chances_of(decision: Decision) -> Shares:
    """Return the chances of a side that decides so, in a coup without a natural so far.

    Exact, for a fresh shoe of six decks. The other side follows the rule and makes the croupier's free choices.
    """
    ways: Counter[int] = Counter()
    for found, gain, count in _decisions(decision):
        if found == decision:
            ways[gain] += count
    return Shares(*(Fraction(ways[gain], ways.total()) for gain in (1, 0, -1)))


@cache
def departure_costs() -> Mapping[Decision, Fraction]:
    """Return the cost of each departure compared with the rule, per unit staked, before tax.

    Exact, for a fresh shoe of six decks. Below zero is a gain. Most departures cost little. Standing on zero loses
    more than half of the stake.

    The other side follows the rule and makes the croupier's free choices.
    """
    gains: Counter[Decision] = Counter()
    ways: Counter[Decision] = Counter()
    for decision, gain, count in _decisions():
        gains[decision] += gain * count
        ways[decision] += count
    worth = {decision: Fraction(gains[decision], count) for decision, count in ways.items()}
    return {
        decision: worth[decision._replace(draws=not decision.draws)] - value
        for decision, value in worth.items()
        if not _rule_for(decision).allows(decision.draws)
    }


def _decisions(only: Decision | None = None) -> Iterator[tuple[Decision, int, int]]:
    """Yield every decision with the side's gain on one unit and the number of six-card ways.

    *only*: leave out most others.
    """
    punters, bankers = _totals(only, Side.PUNTER), _totals(only, Side.BANKER)
    full = Counter(card.points for card in FULL_DECK * DECKS)
    for punter, punter_ways, rest in hands(tuple(full[points] for points in range(10))):
        if punter in NATURALS or punter not in punters:
            continue
        for banker, banker_ways, left in hands(rest):
            if banker not in bankers:
                continue
            dealt = punter_ways * banker_ways
            for draws in (False, True):
                decision = Decision(Side.PUNTER, punter, None, draws)
                if banker in NATURALS:
                    yield decision, -1, dealt * perm(sum(left), 2)
                    continue
                is_usual = draws is _usual(Side.PUNTER, punter_rule(punter))
                for third, after, thirds in _punter_plays(left, draws):
                    usual = _usual(Side.BANKER, banker_rule(banker, third))
                    for banker_draws, gain, fourths in _banker_plays(punter, banker, third, after):
                        count = dealt * thirds * fourths
                        if banker_draws is usual:
                            yield decision, -gain, count
                        if is_usual:
                            yield Decision(Side.BANKER, banker, third, banker_draws), gain, count


def _totals(only: Decision | None, side: Side) -> Container[int]:
    """Return the two-card totals of a side that matter for a decision."""
    return (only.pair_total,) if only and only.side is side else range(10)


def _punter_plays(left: Left, draws: bool) -> Iterator[tuple[int | None, Left, int]]:
    """Yield the punter's third card, the cards left, and the number of ways.

    If the punter stands, there is no card, and the ways are those of one unused card.
    """
    if not draws:
        yield None, left, sum(left) - 1
        return
    for third, thirds in enumerate(left):
        if thirds:
            yield third, without(left, third), thirds


def _banker_plays(punter: int, banker: int, third: int | None, left: Left) -> Iterator[tuple[bool, int, int]]:
    """Yield, for the banker standing and drawing, the banker's gain on one unit and the number of
    ways.
    """
    final = punter if third is None else (punter + third) % 10
    yield False, _gain(final, banker), sum(left)
    for card, cards in enumerate(left):
        yield True, _gain(final, (banker + card) % 10), cards


def _gain(punter_final: int, banker_final: int) -> int:
    return (banker_final > punter_final) - (banker_final < punter_final)


def _rule_for(decision: Decision) -> Advice:
    if decision.side is Side.PUNTER:
        return punter_rule(decision.pair_total)
    return banker_rule(decision.pair_total, decision.punter_third)


def _usual(side: Side, advice: Advice) -> bool:
    """Return whether a side draws if it follows the croupier's choice."""
    return (AT_A_FREE_CHOICE[side] if advice is Advice.AS_YOU_PLEASE else advice) is Advice.DRAW


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
    """Return each probability and value as "numerator/denominator". Raises BadDecks."""
    policies = [
        _choices(odds) | {name: _written(share) for name, share in _shares(odds)} for odds in chemin_odds(decks)
    ]
    return {"variant": SLUG, "decks": decks, "policies": policies}


def chemin_odds_table(decks: int = DECKS) -> list[str]:
    """Return lines of text.

    The last two columns are gains in percent of the punters' stakes. Raises BadDecks.
    """
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
