"""What each stake of a coup brings back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from games.engine.bets import PUSH, BetRule, Variant
from games.engine.coup import Coup
from games.engine.refusals import BadStake, ExcludedBets, MissingMainBet, NoStake, SettlementError, UnknownBet

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
    """What became of a bet."""

    WIN = "win"
    PUSH = "push"
    LOSE = "lose"


class Line(NamedTuple):
    """One bet, settled. All amounts in minor units."""

    bet: str
    stake: int
    payout: int
    """What comes back, stake included."""
    commission: int
    """What even money would have brought more, where the bet bears a commission and has won."""
    result: Result


class Settlement(NamedTuple):
    """All bets of one player on one coup, in the order of the table, with their sums in minor units."""

    lines: tuple[Line, ...]
    staked: int
    paid: int


def settle(variant: Variant, coup: Coup, stakes: Mapping[str, int]) -> Settlement:
    """Settle stakes in minor units. Each winning bet's return is rounded down by itself.

    Raises SettlementError, by the reason, where the rules do not allow these stakes together.
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
    """Settle one bet by itself."""
    pays = bet.pays(coup)
    if pays is None:
        return Line(bet.code, stake, 0, 0, Result.LOSE)
    if pays is PUSH:
        return Line(bet.code, stake, stake, 0, Result.PUSH)
    payout = pays.payout(stake)
    return Line(bet.code, stake, payout, 2 * stake - payout if bet.commission else 0, Result.WIN)
