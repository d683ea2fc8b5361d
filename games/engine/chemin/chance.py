"""What chance alone explains: mean and variance of what a punter and a banker win, for each unit at risk.

Both are exact, for six decks and sides that keep to the rule. Tax is taken as exactly 5 %; what rounding it down
leaves to the banker is less than one minor unit a coup.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import NamedTuple

from games.engine.chemin.machine import AT_A_FREE_CHOICE
from games.engine.chemin.odds import PolicyOdds, chemin_odds
from games.engine.chemin.rules import TAX, Side


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
