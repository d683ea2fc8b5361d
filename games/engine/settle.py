"""Settlement of the stakes of a coup, and the largest possible loss of the house in one round.

Stakes are the sums of all players, by bet. Each player's win is rounded down separately, so the
payout is never more than the win on the sum. The computed loss is therefore never too low. It is
too high by less than one minor unit for each bet of each player.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from math import lcm
from operator import ge
from typing import NamedTuple

from games.engine.bets import (
    PUSH,
    BadStake,
    BetRule,
    ExcludedBets,
    MissingMainBet,
    NoStake,
    Pays,
    SettlementError,
    UnknownBet,
    Variant,
)
from games.engine.coup import Coup

__all__ = [
    "BadStake",
    "ExcludedBets",
    "Line",
    "MissingMainBet",
    "NoStake",
    "Result",
    "Settlement",
    "SettlementError",
    "UnknownBet",
    "line_of",
    "settle",
]


class Result(StrEnum):
    """The result of a bet."""

    WIN = "win"
    PUSH = "push"
    LOSE = "lose"


class Line(NamedTuple):
    """One settled bet. All amounts are in minor units."""

    bet: str
    stake: int
    payout: int
    """Stake included."""
    commission: int
    """The difference to even money if the bet has a commission and wins, else zero."""
    result: Result


class Settlement(NamedTuple):
    """All bets of one player on one coup, in the order of the table, with their sums in minor
    units.
    """

    lines: tuple[Line, ...]
    staked: int
    paid: int


def settle(variant: Variant, coup: Coup, stakes: Mapping[str, int]) -> Settlement:
    """Settle stakes in minor units.

    The payout of each winning bet is rounded down separately.

    Raises a subclass of SettlementError if the rules do not allow these stakes together.
    """
    variant.check(stakes)
    lines = []
    staked = paid = 0
    for bet in variant.bets:
        if (stake := stakes.get(bet.code)) is not None:
            line = line_of(bet, coup, stake)
            lines.append(line)
            staked += stake
            paid += line.payout
    return Settlement(tuple(lines), staked, paid)


def line_of(bet: BetRule, coup: Coup, stake: int) -> Line:
    """Settle one bet."""
    pays = bet.pays(coup)
    if pays is None:
        return Line(bet.code, stake, 0, 0, Result.LOSE)
    if pays is PUSH:
        return Line(bet.code, stake, stake, 0, Result.PUSH)
    payout = pays.payout(stake)
    return Line(bet.code, stake, payout, 2 * stake - payout if bet.commission else 0, Result.WIN)


Row = tuple[Pays | None, ...]
"""The payout of every bet on one coup, in the order of the table; None if the bet loses."""


def largest_loss(variant: Variant, stakes: Mapping[str, int]) -> int:
    """Return payouts less stakes on the worst coup for the house, in minor units, or zero if the
    house never loses.

    Stakes are the sums of all players, so exclusions between bets are not checked. Raises
    UnknownBet.
    """
    on_table = _on_table(variant, stakes)
    return max(0, max(_paid(row, on_table) for row in worst_rows(variant.bets)) - sum(on_table))


def largest_win(variant: Variant, stakes: Mapping[str, int]) -> int:
    """Return the total win of the winning bets on the best coup for the players, in minor units.

    This is the possible loss of the house while bets are open. Losing stakes could still be taken
    back, so they are not deducted. The result is never less than `largest_loss` of these stakes or
    of any part of them. Raises UnknownBet.
    """
    on_table = _on_table(variant, stakes)
    return max(_won(row, on_table) for row in worst_rows(variant.bets))


def _on_table(variant: Variant, stakes: Mapping[str, int]) -> list[int]:
    for code in stakes:
        variant.bet(code)
    return [stakes.get(bet.code, 0) for bet in variant.bets]


def _won(row: Row, on_table: list[int]) -> int:
    return sum(pays.payout(stake) - stake for pays, stake in zip(row, on_table, strict=True) if pays is not None)


def _paid(row: Row, on_table: list[int]) -> int:
    return sum(pays.payout(stake) for pays, stake in zip(row, on_table, strict=True) if pays is not None)


@cache
def worst_rows(bets: tuple[BetRule, ...]) -> tuple[Row, ...]:
    """Return the payout rows of all coups, without the rows that another row dominates for every
    stake.

    A handful of more than a thousand coups is left.
    """
    rows = set(zip(*(bet.payouts for bet in bets), strict=True))
    unit = lcm(*(pays.per for row in rows for pays in row if pays))
    gains = {row: tuple(-unit if pays is None else pays.win * unit // pays.per for pays in row) for row in rows}
    return tuple(row for row in rows if not any(_outdoes(other, gains[row]) for other in gains.values()))


def _outdoes(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether one row of gains is at least as good as another for every bet, and better for one."""
    return one != other and all(map(ge, one, other))
