"""Whether what bets brought back can be chance: the band around an exact return, and the evidence against it.

The evidence of a bet is what somebody would own who began with one unit and bet against the house's figures, coup after
coup, at odds that are fair if the figures are true: after a coup that gained x for the unit staked, what they own is
multiplied by 1 + w(x - m), where m is the exact mean gain and the wager w stands beforehand. Its expectation is one
whatever w is, so it is a martingale, and so is the mean over several wagers and over the bets of a game. By Ville's
inequality it ever reaches `LIMIT` with a chance of at most one in `LIMIT` while the figures are true, however often one
looks. Since no wager changes, only the numbers of coups that ended in each way matter.

Chances, gains and wagers are exact; evidence and bands are floating point, with errors far below what they speak of.
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
"""Evidence that raises an alarm. A hundred would do where each coup is dealt from a fresh shuffle; coups of one shoe
depend on each other a little, for which the other ten are more than enough (docs/returns.md).
"""
CONFIDENCE: Final = 0.99
"""Of bands: an actual return lies inside with this chance."""
DEVIATIONS: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
BIAS: Final = Fraction(2, 100)
"""Of return, either way: what has to be found."""
CERTAINTY: Final = 0.99
"""With which it is found within `rounds_to_find`."""

LOST: Final = "lost"
OTHER: Final = "other"
"""A payout that is none of the bet's. The rules give it no chance at all, so one is evidence without end."""

_BIASES: Final = tuple(Fraction(points, 200) for points in (1, 2, 4, 8, 16, 32))
"""Of return: for each of these, either way, there is a wager that grows fastest."""
_BOLDEST: Final = Fraction(1, 2)
"""A wager never loses more than this part of what is owned, nor wins more on a coup at its mean."""
_DENOMINATOR: Final = 10**6


@dataclass(frozen=True)
class BetTest:
    """What is asked of one bet: how it can end, how likely each is, and which wagers are laid against that."""

    chances: Mapping[str, Fraction]
    """By the name of the way it ends: "19:20", "0:1", "lost"."""
    gains: Mapping[str, Fraction]
    """Per unit staked."""
    mean: Fraction
    variance: Fraction
    wagers: tuple[Fraction, ...]

    @property
    def most(self) -> float:
        """The largest return that there can be: of nothing but its largest prize."""
        return float(1 + max(self.gains.values()))

    def factor(self, wager: Fraction, ending: str) -> Fraction:
        """By what a coup that ends so multiplies what is owned."""
        return 1 + wager * (self.gains[ending] - self.mean)

    def logarithms(self, wager: Fraction) -> Mapping[str, float]:
        """The natural logarithm of each ending's factor."""
        return {ending: log1p(float(wager * (gain - self.mean))) for ending, gain in self.gains.items()}

    def log_evidence(self, counts: Mapping[str, int]) -> float:
        """The natural logarithm of the evidence after so many rounds of each ending; infinite where one of them is none
        of the bet's.
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
    """How counts call what a bet paid; None where it was lost."""
    return LOST if pays is None else str(pays)


def ending_of(variant: Variant, bet: str, *, stake: int, payout: int, result: str) -> str:
    """Return how a bet ended, from what is stored of it in minor units: the prize that it paid, `LOST`, or `OTHER` for
    a payout that is none of the bet's. Where two prizes come to the same amount after rounding, *result* ("win",
    "push", "lose") decides, and then the larger prize. Raises UnknownBet.
    """
    likely = chances(variant, bet)
    if payout == 0 and result == "lose":
        return LOST
    paid = [pays for pays in likely if pays is not None and pays.payout(stake) == payout]
    found = [pays for pays in paid if (result == "win") is (pays.win > 0) and result != "lose"]
    return str(max(found, key=lambda pays: pays.fraction)) if found else OTHER


def log_evidence_of(variant: Variant, counts: Mapping[str, Mapping[str, int]]) -> float:
    """The natural logarithm of the evidence against a whole game: the mean over its bets, those that nobody has placed
    included. *counts* are by bet, then by ending; a bet that the game does not have is evidence without end.
    """
    codes = [bet.code for bet in variant.bets]
    if any(bet not in codes and any(ended.values()) for bet, ended in counts.items()):
        return inf
    return mean_of_logs([bet_test(variant, code).log_evidence(counts.get(code, {})) for code in codes])


def mean_of_logs(logs: Sequence[float]) -> float:
    """The logarithm of the mean of what has these logarithms."""
    top = max(logs)
    if top == inf:
        return inf
    return top + log(sum(exp(each - top) for each in logs) / len(logs))


def half_width(variance: Fraction, *, staked: int, squares: int) -> float:
    """How far an actual return may lie from the exact one with a chance of `CONFIDENCE`, as a share of one.

    *variance* is of the gain per unit; *squares* the sum over rounds of the square of what lay on the bet, since all of
    that wins or loses together; *staked* the sum of it. Infinite where nothing was staked.
    """
    if not staked:
        return inf
    return DEVIATIONS * sqrt(variance) * sqrt(squares) / staked


def rounds_to_find(variant: Variant, bet: str, bias: Fraction = BIAS) -> int:
    """Within how many rounds of the bet an alarm is raised with a chance of `CERTAINTY`, if its return is that much
    larger or smaller than the exact one, whichever takes longer, and all other bets of the game are fair.

    The bias is thought of as all its prizes being won more or less often, in the same proportion. Computed from the one
    wager of the mixture that finds it soonest, by the normal distribution. Raises UnknownBet.
    """
    test = bet_test(variant, bet)
    hurdle = log(LIMIT * len(variant.bets) * len(test.wagers))
    return max(
        min(_rounds_of(test, wager, biased(test, side * bias), hurdle) for wager in test.wagers if wager * side > 0)
        for side in (1, -1)
    )


def biased(test: BetTest, bias: Fraction) -> Mapping[str, Fraction]:
    """The chances of a bet with so much more return: each prize is won more often in the same proportion, at the cost
    of losing.
    """
    won = sum((test.chances[ending] * (gain + 1) for ending, gain in test.gains.items() if gain > 0), Fraction())
    more = 1 + bias / won
    found = {ending: chance * (more if test.gains[ending] > 0 else 1) for ending, chance in test.chances.items()}
    return {**found, LOST: 1 - sum((chance for ending, chance in found.items() if ending != LOST), Fraction())}


def _rounds_of(test: BetTest, wager: Fraction, likely: Mapping[str, Fraction], hurdle: float) -> int:
    """After how many coups a wager has grown past the hurdle: growth is *pace* a coup, give or take."""
    logarithms = test.logarithms(wager)
    pace = sum(float(chance) * logarithms[ending] for ending, chance in likely.items())
    if pace <= 0:
        return 10**18  # it never does
    spread = sqrt(sum(float(chance) * (logarithms[ending] - pace) ** 2 for ending, chance in likely.items()))
    unlucky = NormalDist().inv_cdf(CERTAINTY) * spread
    return ceil(((unlucky + sqrt(unlucky**2 + 4 * pace * hurdle)) / (2 * pace)) ** 2)
