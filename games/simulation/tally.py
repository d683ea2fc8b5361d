"""Payouts of simulated bets, compared with the exact odds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from statistics import NormalDist
from typing import Final

from games.engine.bets import Variant
from games.engine.odds import BetOdds, exact, square_root
from games.engine.settle import SettlementError

CONFIDENCE: Final = 0.99
_DEVIATIONS: Final = Fraction(NormalDist().inv_cdf((1 + CONFIDENCE) / 2))
_PLACES: Final = 12

ReturnCounts = Mapping[str, Counter[int]]
"""For every bet, the number of times each payout occurred.

Payouts are in minor units, stake included.
"""


@dataclass(frozen=True)
class Comparison:
    """The simulated return of one bet, with its exact odds and band.

    Figures are shares of the stake.
    """

    bet: str
    actual: Fraction
    exact: Fraction
    low: Fraction
    high: Fraction
    """99 of 100 simulations of this length lie between low and high."""

    @property
    def within(self) -> bool:
        """True if the actual return lies in its band."""
        return self.low <= self.actual <= self.high


def unit(variant: Variant) -> int:
    """Return the smallest stake, in minor units, at which no bet loses by rounding."""
    return lcm(*(prize.pays.per for bet in variant.bets for prize in bet.prizes))


def slips(variant: Variant, stake: int) -> tuple[Mapping[str, int], ...]:
    """Return slips that contain every bet once at this stake, on as few slips as possible.

    Bets are settled separately, but a side bet needs a main bet on its slip, and some bets exclude
    each other.
    """
    found: list[dict[str, int]] = []
    for bet in variant.bets:
        home = next((slip for slip in found if _allowed(variant, {**slip, bet.code: stake})), None)
        if home is None:
            found.append({bet.code: stake})
        else:
            home[bet.code] = stake
    return tuple(found)


def compare(variant: Variant, tally: ReturnCounts) -> Iterator[Comparison]:
    """Compare the returns of a simulation, made with the stake of `unit`, with the exact ones.

    The band assumes independent coups, which is nearly true for coups of one shoe. It never goes
    below zero.
    """
    stake = unit(variant)
    for bet, odds in exact(variant).items():
        coups = tally[bet].total()
        reach = _DEVIATIONS * _standard_error(odds, coups)
        yield Comparison(
            bet=bet,
            actual=Fraction(_sum(tally[bet].items()), coups * stake),
            exact=odds.rtp,
            low=max(odds.rtp - reach, Fraction()),
            high=odds.rtp + reach,
        )


def _allowed(variant: Variant, stakes: Mapping[str, int]) -> bool:
    try:
        variant.check(stakes)
    except SettlementError:
        return False
    return True


def _standard_error(odds: BetOdds, coups: int) -> Fraction:
    return Fraction(square_root(odds.variance / coups, _PLACES))


def _sum(payouts: Iterable[tuple[int, int]]) -> int:
    return sum(payout * times for payout, times in payouts)
