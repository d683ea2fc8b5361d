"""Exact probabilities and returns from the count of all coups, and their output as text or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import floor, gcd, isqrt, lcm
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from games.engine.bets import BetRule, Pays, Variant
from games.engine.counting import BadDecks, count_coups, count_every_coup

__all__ = [
    "LIVE_MINIMUM",
    "BadDecks",
    "BadStakes",
    "BetOdds",
    "Odds",
    "chances",
    "chances_of",
    "count_outcomes",
    "exact",
    "lowest_return",
    "odds_of",
    "percent",
    "return_at",
    "square_root",
]

LIVE_MINIMUM: Final = Fraction(3, 4)
"""A bet with a lower return at any stake of a table must not be offered (GLI-19 v3.0, 4.7.1)."""


class BadStakes(ValueError):
    """No stake is possible within these limits."""


class BetOdds(NamedTuple):
    """The odds of one bet over all coups, per unit staked, without rounding."""

    rtp: Fraction
    win: Fraction
    push: Fraction
    lose: Fraction
    variance: Fraction

    @property
    def edge(self) -> Fraction:
        """The house edge."""
        return 1 - self.rtp


Odds = Mapping[str, BetOdds]
"""The odds of every bet of a variant, by code."""


def exact(variant: Variant, decks: int | None = None) -> Odds:
    """Return the odds of every bet by code, for the variant's or another number of decks.

    Raises BadDecks.
    """
    return MappingProxyType({bet.code: odds_of(chances(variant, bet.code, decks)) for bet in variant.bets})


def chances(variant: Variant, bet: str, decks: int | None = None) -> Mapping[Pays | None, Fraction]:
    """Return the probability of each payout of a bet; None means that the bet loses.

    The probabilities add up to one. Raises UnknownBet or BadDecks.
    """
    return chances_of(variant.bet(bet), variant.decks if decks is None else decks)


def return_at(variant: Variant, bet: str, stake: int, decks: int | None = None) -> Fraction:
    """Return the return of a bet at a stake in minor units, after rounding down.

    Raises UnknownBet or BadDecks.
    """
    return _return_at(chances(variant, bet, decks), stake)


def lowest_return(
    variant: Variant, bet: str, minimum: int, maximum: int, step: int, decks: int | None = None
) -> tuple[Fraction, int]:
    """Return the lowest return over all multiples of *step* from *minimum* to *maximum*, and its
    stake.

    The loss from rounding depends only on the remainder of the stake by the denominators of the
    paytable, and its share falls as the stake rises. So the smallest stake of each remainder is the
    worst, and only these are checked. Raises UnknownBet, BadDecks or BadStakes.
    """
    if minimum <= 0 or step <= 0:
        raise BadStakes(f"neither a minimum nor a step can be {min(minimum, step)}")
    likely = chances(variant, bet, decks)
    remainders = lcm(*(pays.per for pays in likely if pays is not None))
    smallest = -(-minimum // step) * step
    stakes = range(smallest, maximum + 1, step)[: remainders // gcd(step, remainders)]
    if not stakes:
        raise BadStakes(f"no multiple of {step} is between {minimum} and {maximum}")
    return min((_return_at(likely, stake), stake) for stake in stakes)


def count_outcomes(decks: int) -> dict[str, int]:
    """Return the number of six-card sequences that end in "banker", "player" and "tie".

    Raises BadDecks.
    """
    outcomes: Counter[str] = Counter()
    for coup, ways in count_coups(decks).items():
        outcomes[coup.outcome.value] += ways
    return dict(outcomes)


def percent(share: Fraction, decimals: int) -> str:
    """Format a share of one in percent with this number of decimals, rounded half up:
    "98.7649", "-1.2351".
    """
    units = floor(share * 100 * 10**decimals + Fraction(1, 2))
    whole, rest = divmod(abs(units), 10**decimals)
    return f"{'-' if units < 0 else ''}{whole}.{rest:0{decimals}}"


def square_root(number: Fraction, decimals: int) -> str:
    """Format the square root with this number of decimals, rounded down."""
    units = isqrt(int(number * 100**decimals))
    whole, rest = divmod(units, 10**decimals)
    return f"{whole}.{rest:0{decimals}}"


@cache
def chances_of(bet: BetRule, decks: int) -> Mapping[Pays | None, Fraction]:
    """Return the probability of each payout of one bet rule; None means that the bet loses."""
    ways: Counter[Pays | None] = Counter()
    for pays, count in zip(bet.payouts, count_every_coup(decks), strict=True):
        ways[pays] += count
    total = ways.total()
    return MappingProxyType({pays: Fraction(count, total) for pays, count in ways.items() if count})


def odds_of(likely: Mapping[Pays | None, Fraction]) -> BetOdds:
    """Return the odds of a bet with these payout probabilities."""
    gains = [(Fraction(-1) if pays is None else pays.fraction, chance) for pays, chance in likely.items()]
    mean = sum((gain * chance for gain, chance in gains), Fraction())
    return BetOdds(
        rtp=1 + mean,
        win=sum((chance for gain, chance in gains if gain > 0), Fraction()),
        push=sum((chance for gain, chance in gains if gain == 0), Fraction()),
        lose=sum((chance for gain, chance in gains if gain < 0), Fraction()),
        variance=sum((gain * gain * chance for gain, chance in gains), Fraction()) - mean * mean,
    )


def _return_at(likely: Mapping[Pays | None, Fraction], stake: int) -> Fraction:
    payouts = (chance * pays.payout(stake) for pays, chance in likely.items() if pays is not None)
    return sum(payouts, Fraction()) / stake


COLUMNS = ("bet", "return %", "house edge %", "win %", "push %", "lose %", "std deviation")


def as_json(variant: Variant, decks: int) -> dict[str, Any]:
    """Return each share as "numerator/denominator"; `percent` is the return in percent, rounded to
    four decimals.
    """
    bets = {bet: {**_fractions(odds), "percent": percent(odds.rtp, 4)} for bet, odds in exact(variant, decks).items()}
    return {"variant": variant.slug, "decks": decks, "bets": bets}


def as_table(variant: Variant, decks: int) -> list[str]:
    """Return lines of text.

    Shares are in percent; the standard deviation of the gain is in units staked.
    """
    lines = [f"{variant.slug}, rules {variant.version}, decks: {decks}", _row(COLUMNS)]
    for bet, odds in exact(variant, decks).items():
        shares = (percent(share, 4) for share in (odds.rtp, odds.edge, odds.win, odds.push, odds.lose))
        lines.append(_row((bet, *shares, square_root(odds.variance, 4))))
    return lines


def _fractions(odds: BetOdds) -> dict[str, str]:
    return {
        "rtp": _written(odds.rtp),
        "edge": _written(odds.edge),
        "win": _written(odds.win),
        "push": _written(odds.push),
        "lose": _written(odds.lose),
        "variance": _written(odds.variance),
    }


def _written(share: Fraction) -> str:
    return f"{share.numerator}/{share.denominator}"


def _row(cells: tuple[str, ...]) -> str:
    bet, *figures = cells
    return f"{bet:<14}" + "".join(f"{figure:>15}" for figure in figures)
