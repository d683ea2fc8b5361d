"""What a departure from the rule costs the side that departs: exact chances of a fresh shoe of six decks.

Departures are allowed where one punter alone faces the banker. Most are a guest's own idea and cost little; whoever
stands on nothing gives more than half of the stake away.
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
from games.engine.tableau import NATURALS


class Decision(NamedTuple):
    """Drawing or standing, as whoever decides has it before him."""

    side: Side
    pair_total: int
    """Of the side's own two cards, 0 to 7."""
    punter_third: int | None
    """Points of the punter's third card where the banker decides; None where there is none."""
    draws: bool


@cache
def departure_costs() -> Mapping[Decision, Fraction]:
    """What each departure loses against keeping to the rule, for each unit staked, before tax; below zero it gains.

    The other side is taken to keep to the rule, and to make its free choices as the croupier would.
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
    """Every decision, either way, with what the side then wins of one unit, and in how many ways of six cards."""
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
    """The punter's third card, what it leaves, and the ways; where he stands, none, and the ways of a card unused."""
    if not draws:
        yield None, left, sum(left) - 1
        return
    for third, thirds in enumerate(left):
        if thirds:
            yield third, without(left, third), thirds


def _banker_plays(punter: int, banker: int, third: int | None, left: Left) -> Iterator[tuple[bool, int, int]]:
    """The banker standing and drawing: what he wins of one unit, and in how many ways."""
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
    """Whether a side draws that does what the croupier would."""
    return (AT_A_FREE_CHOICE[side] if advice is Advice.AS_YOU_PLEASE else advice) is Advice.DRAW
