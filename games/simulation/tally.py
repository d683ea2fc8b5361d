"""Payouts of simulated bets, compared with the exact odds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from statistics import NormalDist
from typing import Any, Final

from games.engine.bets import Shape, Variant
from games.engine.dealing import CUT_CARD
from games.engine.odds import BetOdds, exact, percent, square_root
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


COLUMNS = ("bet", "actual %", "exact %", "99 % from", "to", "")


@dataclass(frozen=True)
class Run:
    """A finished simulation."""

    variant: Variant
    coups: int
    seconds: float
    fast: bool
    bets: tuple[Comparison, ...]

    @property
    def per_second(self) -> int:
        """Coups per second."""
        return round(self.coups / self.seconds)


def as_json(run: Run) -> dict[str, Any]:
    """Return each return as "numerator/denominator", and in percent rounded to four places.

    `cut_card` is null if every coup comes from a fresh shuffle.
    """
    return {
        "variant": run.variant.slug,
        "decks": run.variant.decks,
        "cut_card": _cut_card(run.variant),
        "dealt_by": "arrays" if run.fast else "engine",
        "coups": run.coups,
        "coups_per_second": run.per_second,
        "bets": {each.bet: _bet(each) for each in run.bets},
    }


def as_table(run: Run) -> Iterator[str]:
    """Yield lines of text, with returns in percent."""
    yield f"{run.variant.slug}, rules {run.variant.version}: {run.coups:,} coups, {run.per_second:,} a second"
    yield f"Cards: {_shoes(run.variant)}, {_dealt(fast=run.fast)}."
    yield _row(COLUMNS)
    for each in run.bets:
        yield _row((each.bet, *_shares(each), "within" if each.within else "OUTSIDE"))
    yield "One bet in a hundred lies outside its band by chance alone."


def _bet(each: Comparison) -> dict[str, Any]:
    actual, exact, low, high = _shares(each)
    return {
        "actual": f"{each.actual.numerator}/{each.actual.denominator}",
        "exact": f"{each.exact.numerator}/{each.exact.denominator}",
        "actual_percent": actual,
        "exact_percent": exact,
        "low_percent": low,
        "high_percent": high,
        "within": each.within,
    }


def _shares(each: Comparison) -> tuple[str, ...]:
    return tuple(percent(share, 4) for share in (each.actual, each.exact, each.low, each.high))


def _shoes(variant: Variant) -> str:
    decks = "one deck" if variant.decks == 1 else f"{variant.decks} decks"
    cut = _cut_card(variant)
    return (
        f"{decks}, shuffled before every coup"
        if cut is None
        else f"{decks}, dealt through to one coup after the cut card, {cut} before the end"
    )


def _cut_card(variant: Variant) -> int | None:
    return None if variant.shape is Shape.SOLO else CUT_CARD


def _dealt(*, fast: bool) -> str:
    if fast:
        return "dealt with NumPy arrays instead of the engine's shuffle and dealing"
    return "dealt by the engine through the shuffle of real rounds"


def _row(cells: tuple[str, ...]) -> str:
    bet, *figures = cells
    return (f"{bet:<14}" + "".join(f"{figure:>12}" for figure in figures)).rstrip()
