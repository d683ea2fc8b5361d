"""Statistical test of actual returns: confidence bands and sequential evidence against the exact
figures.

The evidence of a bet is the capital of a fictitious gambler who starts with one unit and bets
against the exact figures, coup after coup, at odds that are fair if the figures are true. After a
coup with gain x per unit staked, the capital is multiplied by 1 + w(x - m), where m is the exact
mean gain and the wager w is fixed in advance. The expected capital is one for every w, so it is a
martingale. The mean over several wagers and over the bets of a game is a martingale too. By Ville's
inequality, it ever reaches `LIMIT` with a probability of at most one in `LIMIT` while the figures
are true, however often it is checked. Wagers never change, so only the number of coups per ending
matters.

Probabilities, gains and wagers are exact. Evidence and bands are floating point; the errors are
negligible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, exp, inf, log, log1p, sqrt
from statistics import NormalDist
from typing import Final

from games.engine.bets import BetRule, Pays, Variant
from games.engine.odds import chances, chances_of, odds_of

LIMIT: Final = 110
"""Evidence that raises an alarm.

One hundred is enough if each coup is dealt from a fresh shuffle. Coups of one shoe depend slightly
on each other; the additional ten more than cover this (docs/returns.md).
"""
CONFIDENCE: Final = 0.99
"""The probability that an actual return is inside its band."""
DEVIATIONS: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
BIAS: Final = Fraction(2, 100)
"""The bias of the return, in either direction, that must be detected."""
CERTAINTY: Final = 0.99
"""The probability of detection within `rounds_to_find`."""

LOST: Final = "lost"
OTHER: Final = "other"
"""A payout that the bet cannot have.

Its probability is zero, so one such payout is infinite evidence.
"""

_BIASES: Final = tuple(Fraction(points, 200) for points in (1, 2, 4, 8, 16, 32))
"""Biases of the return. For each, in either direction, there is the wager with the
fastest growth.
"""
_BOLDEST: Final = Fraction(1, 2)
"""The largest share of the capital that a wager can win or lose in one coup."""
_DENOMINATOR: Final = 10**6


@dataclass(frozen=True)
class BetTest:
    """The test of one bet: its endings, their probabilities, and the wagers."""

    chances: Mapping[str, Fraction]
    """By the name of the ending: "19:20", "0:1", "lost"."""
    gains: Mapping[str, Fraction]
    """Per unit staked."""
    mean: Fraction
    variance: Fraction
    wagers: tuple[Fraction, ...]

    @property
    def most(self) -> float:
        """The largest possible return: every coup wins the largest prize."""
        return float(1 + max(self.gains.values()))

    def factor(self, wager: Fraction, ending: str) -> Fraction:
        """Return the factor by which a coup with this ending multiplies the capital."""
        return 1 + wager * (self.gains[ending] - self.mean)

    def logarithms(self, wager: Fraction) -> Mapping[str, float]:
        """Return the natural logarithm of each ending's factor."""
        return {ending: log1p(float(wager * (gain - self.mean))) for ending, gain in self.gains.items()}

    def log_evidence(self, counts: Mapping[str, int]) -> float:
        """Return the natural logarithm of the evidence for these counts of endings.

        Infinite if the bet cannot have one of the endings.
        """
        if any(count and ending not in self.gains for ending, count in counts.items()):
            return inf
        owned = [
            sum(count * logarithms[ending] for ending, count in counts.items())
            for logarithms in map(self.logarithms, self.wagers)
        ]
        return mean_of_logs(owned)


def bet_test(variant: Variant, bet: str) -> BetTest:
    """Return the test of a bet of a game. Raises UnknownBet."""
    return _bet_test(variant.bet(bet), variant.decks)


@cache
def _bet_test(rule: BetRule, decks: int) -> BetTest:
    likely = chances_of(rule, decks)
    gains = {name_of(pays): Fraction(-1) if pays is None else pays.fraction for pays in likely}
    odds = odds_of(likely)
    mean = odds.rtp - 1
    farthest = max(abs(gain - mean) for gain in gains.values())
    sizes = {min(bias / odds.variance, _BOLDEST / farthest).limit_denominator(_DENOMINATOR) for bias in _BIASES}
    return BetTest(
        chances={name_of(pays): chance for pays, chance in likely.items()},
        gains=gains,
        mean=mean,
        variance=odds.variance,
        wagers=tuple(sorted({side * size for size in sizes for side in (1, -1)})),
    )


def name_of(pays: Pays | None) -> str:
    """Return the name of an ending in counts. None means that the bet lost."""
    return LOST if pays is None else str(pays)


def ending_of(variant: Variant, bet: str, *, stake: int, payout: int, result: str) -> str:
    """Return the ending of a stored bet: the prize paid, `LOST`, or `OTHER` for an impossible
    payout.

    Amounts are in minor units. If two prizes give the same amount after rounding, *result* ("win",
    "push", "lose") decides, then the larger prize. Raises UnknownBet.
    """
    likely = chances(variant, bet)
    if payout == 0 and result == "lose":
        return LOST
    paid = [pays for pays in likely if pays is not None and pays.payout(stake) == payout]
    found = [pays for pays in paid if (result == "win") is (pays.win > 0) and result != "lose"]
    return str(max(found, key=lambda pays: pays.fraction)) if found else OTHER


def log_evidence_of(variant: Variant, counts: Mapping[str, Mapping[str, int]]) -> float:
    """Return the natural logarithm of the evidence against a whole game: the mean over all its
    bets, including bets without rounds.

    *counts* are by bet, then by ending. A bet that the game does not have gives infinite evidence.
    """
    codes = [bet.code for bet in variant.bets]
    if any(bet not in codes and any(ended.values()) for bet, ended in counts.items()):
        return inf
    return mean_of_logs([bet_test(variant, code).log_evidence(counts.get(code, {})) for code in codes])


def mean_of_logs(logs: Sequence[float]) -> float:
    """Return the logarithm of the mean of the numbers with these logarithms."""
    top = max(logs)
    if top == inf:
        return inf
    return top + log(sum(exp(each - top) for each in logs) / len(logs))


def half_width(variance: Fraction, *, staked: int, squares: int) -> float:
    """Return the half-width of the confidence band of an actual return, as a share of one.

    *variance* is that of the gain per unit. *squares* is the sum over rounds of the squared total
    stake on the bet, since all stakes of a round win or lose together. *staked* is the sum of the
    stakes. Infinite if nothing was staked.
    """
    if not staked:
        return inf
    return DEVIATIONS * sqrt(variance) * sqrt(squares) / staked


def rounds_to_find(variant: Variant, bet: str, bias: Fraction = BIAS) -> int:
    """Return the number of rounds after which a biased bet raises an alarm with probability
    `CERTAINTY`.

    The return of the bet differs from the exact return by *bias*, up or down, whichever takes
    longer. All other bets of the game are fair. The bias is modelled as all prizes being won more
    or less often in the same proportion. The figure uses the single wager that detects the bias
    first, with the normal approximation. Raises UnknownBet.
    """
    test = bet_test(variant, bet)
    hurdle = log(LIMIT * len(variant.bets) * len(test.wagers))
    return max(
        min(_rounds_of(test, wager, biased(test, side * bias), hurdle) for wager in test.wagers if wager * side > 0)
        for side in (1, -1)
    )


def biased(test: BetTest, bias: Fraction) -> Mapping[str, Fraction]:
    """Return the probabilities of a bet whose return is higher by *bias*.

    Each prize is won more often in the same proportion, and the bet loses less often.
    """
    won = sum((test.chances[ending] * (gain + 1) for ending, gain in test.gains.items() if gain > 0), Fraction())
    more = 1 + bias / won
    found = {ending: chance * (more if test.gains[ending] > 0 else 1) for ending, chance in test.chances.items()}
    return {**found, LOST: 1 - sum((chance for ending, chance in found.items() if ending != LOST), Fraction())}


def _rounds_of(test: BetTest, wager: Fraction, likely: Mapping[str, Fraction], hurdle: float) -> int:
    """Return the number of coups after which a wager has grown past the hurdle.

    *pace* is the mean growth per coup.
    """
    logarithms = test.logarithms(wager)
    pace = sum(float(chance) * logarithms[ending] for ending, chance in likely.items())
    if pace <= 0:
        return 10**18  # the wager does not grow
    spread = sqrt(sum(float(chance) * (logarithms[ending] - pace) ** 2 for ending, chance in likely.items()))
    unlucky = NormalDist().inv_cdf(CERTAINTY) * spread
    return ceil(((unlucky + sqrt(unlucky**2 + 4 * pace * hurdle)) / (2 * pace)) ** 2)
