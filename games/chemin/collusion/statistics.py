"""How often chance alone makes honest play look like this: what the figures about pairs of players are weighed by.

Everything here is arithmetic on counts and sums. What is done with it stands in `games.chemin.collusion.signals`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import erfc, exp, lgamma, sqrt
from typing import Final

from games.engine.chemin.chance import usual_chance
from games.engine.chemin.rules import Side

BEYOND_NORMAL: Final = 3.179
"""Whatever the stakes, a sum of wins and losses at even chances is at most so many times as likely to lie so far out as
a normal one of the same deviation: reached by two equal stakes, both lost (Bentkus and Dzindzalieta, Bernoulli 2015).
"""

EXACT_UP_TO: Final = 200
"""Answers of one pair up to which their distribution is counted out; beyond, it is normal for all that matters here."""

WORTH_COUNTING: Final = 1.5
"""Deviations below which nothing is counted out: there nothing stands out, whatever the exact figure is."""


@dataclass(frozen=True)
class Moments:
    """What a decisive coup, one that is no draw, brings the punter by chance, for each unit staked, before tax."""

    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class Answers:
    """How often something was done with one other player and with all others, of how often it could have been, in
    circumstances that compare.
    """

    done: int
    asked: int
    done_elsewhere: int
    asked_elsewhere: int


@cache
def decisive() -> Moments:
    """By the rule, with six decks, draws left out: a draw moves no money."""
    every = usual_chance(Side.PUNTER)
    share = every.variance + every.mean**2  # of coups that are no draw: there the square of the result is one
    mean = every.mean / share
    return Moments(float(mean), float(1 - mean**2))


def tail(deviation: float) -> float:
    """Return how likely chance is to bring a result at least so many standard deviations from the expected, on either
    side; never less than it is, whatever the stakes were.
    """
    return min(1.0, 2 * BEYOND_NORMAL * _beyond(abs(deviation)))


def for_all(probability: float, looks: int) -> float:
    """Return how likely it is that chance alone brings this to any of so many that were looked at (Bonferroni)."""
    return min(1.0, probability * looks)


def more_often(strata: Sequence[Answers]) -> float:
    """Return how likely honest play is to do something at least so often with one player rather than with the others.

    Fisher's exact test, one-sided, over circumstances that compare only within themselves; normal, with correction for
    continuity, where the counts are large. 1.0 where it was done no more often than with others, or hardly.
    """
    deviation = _deviation(strata, correction=0.5)
    if _deviation(strata, correction=0.0) < WORTH_COUNTING:
        return 1.0
    if sum(each.asked for each in strata) > EXACT_UP_TO:
        return _beyond(deviation)
    chances = [1.0]
    least = sum(_fewest(each) for each in strata)
    for each in strata:
        chances = _convolve(chances, list(_hypergeometric(each)))
    done = sum(each.done for each in strata)
    return min(1.0, sum(chances[done - least :]))


def _beyond(deviation: float) -> float:
    """The upper tail of the normal distribution."""
    return erfc(deviation / sqrt(2)) / 2


def _deviation(strata: Iterable[Answers], *, correction: float) -> float:
    """By how many standard deviations it was done more often with the one than the margins make expect."""
    over, variance = -correction, 0.0
    for each in strata:
        total = each.asked + each.asked_elsewhere
        if total < 2:
            continue
        share = (each.done + each.done_elsewhere) / total
        over += each.done - each.asked * share
        variance += each.asked * share * (1 - share) * each.asked_elsewhere / (total - 1)
    return over / sqrt(variance) if variance else 0.0


def _fewest(answers: Answers) -> int:
    return max(0, answers.done + answers.done_elsewhere - answers.asked_elsewhere)


def _hypergeometric(answers: Answers) -> Iterable[float]:
    """The chances of the fewest that the margins allow, of one more, and so on."""
    done, total = answers.done + answers.done_elsewhere, answers.asked + answers.asked_elsewhere
    most = min(answers.asked, done)
    for count in range(_fewest(answers), most + 1):
        ways = _log_ways(done, count) + _log_ways(total - done, answers.asked - count)
        yield exp(ways - _log_ways(total, answers.asked))


def _log_ways(many: int, chosen: int) -> float:
    return lgamma(many + 1) - lgamma(chosen + 1) - lgamma(many - chosen + 1)


def _convolve(one: Sequence[float], other: Sequence[float]) -> list[float]:
    both = [0.0] * (len(one) + len(other) - 1)
    for here, chance in enumerate(one):
        for there, more in enumerate(other, start=here):
            both[there] += chance * more
    return both
