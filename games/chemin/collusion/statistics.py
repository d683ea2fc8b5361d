"""Statistics and scope of the analysis: how likely honest play is to give such figures by chance.

The figures come from one statement for each question, over all pairs. The rest is arithmetic on
counts and sums, which `games.chemin.collusion.signals` applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from math import erfc, exp, lgamma, sqrt
from typing import Any, Final

from django.db import connection

from audit.raw_rows import named
from games.engine.chemin.odds import usual_chance
from games.engine.chemin.rules import Side
from wallet.models import Mode

BEYOND_NORMAL: Final = 3.179
"""Factor that bounds the tail of any sum of even wins and losses by the normal tail.

It holds for all stakes, at the same deviation. Two equal stakes, both lost, reach it (Bentkus and
Dzindzalieta, Bernoulli 2015).
"""

EXACT_UP_TO: Final = 200
"""Number of answers up to which the distribution is computed exactly; beyond, the normal one is close enough."""

WORTH_COUNTING: Final = 1.5
"""Standard deviations below which nothing is computed exactly, because nothing can be significant there."""


@dataclass(frozen=True)
class Moments:
    """Mean and variance of the punter's result in a coup that is no draw, per unit staked, before tax."""

    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class Answers:
    """Counts of how often something was done and could have been done, with one player and with all others.

    All counts are from comparable circumstances.
    """

    done: int
    asked: int
    done_elsewhere: int
    asked_elsewhere: int


@cache
def decisive() -> Moments:
    """Return the moments by the rule, with six decks, without draws, which move no money."""
    every = usual_chance(Side.PUNTER)
    share = every.variance + every.mean**2  # share of coups that are no draw; there the squared result is one
    mean = every.mean / share
    return Moments(float(mean), float(1 - mean**2))


def tail(deviation: float) -> float:
    """Return an upper bound of the probability of a deviation this large by chance, in either direction.

    It holds for all stakes.
    """
    return min(1.0, 2 * BEYOND_NORMAL * _beyond(abs(deviation)))


def for_all(probability: float, tests: int) -> float:
    """Return the probability that chance gives this result in any of *tests* tests (Bonferroni)."""
    return min(1.0, probability * tests)


def more_often(strata: Sequence[Answers]) -> float:
    """Return the probability that honest play does something at least this often with one player.

    One-sided Fisher's exact test over strata; for large counts, the normal approximation with
    continuity correction. 1.0 where it was done no more often than with others, or hardly more.
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
    """Return the upper tail of the normal distribution."""
    return erfc(deviation / sqrt(2)) / 2


def _deviation(strata: Iterable[Answers], *, correction: float) -> float:
    """Return the excess over the expected count, in standard deviations."""
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
    """Yield the probabilities of the smallest count that the margins allow, of one more, and so on."""
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


WITHIN: Final = """
    (%(table)s::bigint IS NULL OR l.table_id = %(table)s) AND l.mode = %(mode)s
    AND (%(currency)s::text IS NULL OR p.currency = %(currency)s)
"""
"""Condition for a table `l`, its kind of money, and a player `p`."""

COUPS: Final = f"""
WITH coup AS MATERIALIZED (
    SELECT c.round_id, c.banker_player_id AS banker, c.at_risk, c.punter_draws, c.banker_draws,
        c.punter_departs, c.banker_departs
    FROM games_chemincoup AS c
    JOIN games_chemintenure AS t ON t.id = c.tenure_id
    JOIN games_livetable AS l ON l.id = t.live_table_id
    JOIN players_player AS p ON p.id = c.banker_player_id
    WHERE c.at >= %(since)s AND c.at < %(until)s AND c.outcome <> '' AND {WITHIN}
        AND NOT EXISTS (SELECT FROM games_void AS v WHERE v.round_id = c.round_id)
)
"""  # noqa: S608  (nothing but names of our own)
"""Settled coups that were not voided, with a player as banker."""


@dataclass(frozen=True)
class Scope:
    """The coups to analyse: from *since* to before *until*, for one kind of money.

    Optionally one currency and one table (its id).
    """

    since: datetime
    until: datetime
    mode: Mode = Mode.REAL
    currency: str | None = None
    table: int | None = None


def ask(statement: str, scope: Scope, **more: Any) -> list[Mapping[str, Any]]:
    """Return the rows of a statement whose parameters are the scope's fields and *more*."""
    with connection.cursor() as cursor:
        cursor.execute(statement, asdict(scope) | more)
        columns = [column.name for column in cursor.description]
        return [named(columns, row) for row in cursor.fetchall()]
