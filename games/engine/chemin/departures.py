"""Exact cost of departures from the drawing rule, for a fresh shoe of six decks.

Departures are allowed if a single punter plays against the banker. Most cost little. Standing on
zero loses more than half of the stake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from math import perm
from typing import NamedTuple

from games.engine.cards import FULL_DECK
from games.engine.chemin.machine import AT_A_FREE_CHOICE
from games.engine.chemin.odds import Left, hands, without
from games.engine.chemin.rules import DECKS, Advice, Outcome, Side, banker_rule, outcome_of, punter_rule
from games.engine.coup import NATURALS


class Decision(NamedTuple):
    """A decision to draw or stand, with what the side knows at that moment."""

    side: Side
    pair_total: int
    """The total of the side's own two cards, 0 to 7."""
    punter_third: int | None
    """Points of the punter's third card if the banker decides; None if there is none."""
    draws: bool


@cache
def departure_costs() -> Mapping[Decision, Fraction]:
    """Return the cost of each departure compared with the rule, per unit staked, before tax.

    Below zero is a gain.

    The other side follows the rule and makes the croupier's free choices.
    """
    gains: Counter[Decision] = Counter()
    ways: Counter[Decision] = Counter()
    for decision, gain, count in _courses():
        gains[decision] += gain * count
        ways[decision] += count
    worth = {decision: Fraction(gains[decision], count) for decision, count in ways.items()}
    return {
        decision: worth[decision._replace(draws=not decision.draws)] - value
        for decision, value in worth.items()
        if not _rule(decision).allows(decision.draws)
    }


def _courses() -> Iterator[tuple[Decision, int, int]]:
    """Yield every decision with the side's gain on one unit and the number of six-card ways."""
    full = Counter(card.points for card in FULL_DECK * DECKS)
    for punter, punter_ways, rest in hands(tuple(full[points] for points in range(10))):
        if punter in NATURALS:
            continue
        for banker, banker_ways, left in hands(rest):
            dealt = punter_ways * banker_ways
            for draws in (False, True):
                decision = Decision(Side.PUNTER, punter, None, draws)
                if banker in NATURALS:
                    yield decision, -1, dealt * perm(sum(left), 2)
                    continue
                is_usual = draws is _usual(Side.PUNTER, punter_rule(punter))
                for third, after, thirds in _third_cards(left, draws):
                    for banker_draws, gain, fourths in _banker_plays(punter, banker, third, after):
                        count = dealt * thirds * fourths
                        if banker_draws is _usual(Side.BANKER, banker_rule(banker, third)):
                            yield decision, -gain, count
                        if is_usual:
                            yield Decision(Side.BANKER, banker, third, banker_draws), gain, count


def _third_cards(left: Left, draws: bool) -> Iterator[tuple[int | None, Left, int]]:
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
    return {Outcome.BANKER: 1, Outcome.DRAW: 0, Outcome.PUNTER: -1}[outcome_of(punter_final, banker_final)]


def _rule(decision: Decision) -> Advice:
    if decision.side is Side.PUNTER:
        return punter_rule(decision.pair_total)
    return banker_rule(decision.pair_total, decision.punter_third)


def _usual(side: Side, advice: Advice) -> bool:
    """Return whether a side draws if it follows the croupier's choice."""
    return (AT_A_FREE_CHOICE[side] if advice is Advice.AS_YOU_PLEASE else advice) is Advice.DRAW
