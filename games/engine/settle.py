"""What each stake of a coup brings back.

What the house may come to lose in one round, worked out exactly over every coup there can be.

Stakes are those of all players together, bet by bet. Each player's win is rounded down by itself, so what is paid is
never more than what their sum would win: the loss named here is never less than the real one, and exceeds it by less
than a minor unit for each bet of each player.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from games.engine.bets import PUSH, BetRule, Pays, Variant
from games.engine.conditions import EVERY_COUP
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


Row = tuple[Pays | None, ...]
"""What every bet pays on one coup, in the order of the table; None where it is lost."""


def largest_loss(variant: Variant, stakes: Mapping[str, int]) -> int:
    """Payouts less stakes on the coup that is worst for the house, in minor units; nothing where it loses on none.

    Raises UnknownBet. Which bets one player may stake together is another matter: these are everybody's.
    """
    on_table = _on_table(variant, stakes)
    return max(0, max(_paid(row, on_table) for row in _worst_rows(variant.bets)) - sum(on_table))


def largest_win(variant: Variant, stakes: Mapping[str, int]) -> int:
    """What the bets that win on one coup bring together, in minor units, on the coup that is best for them.

    What the house may come to lose while bets are open: stakes that lose then could still be taken back, so none of
    them is counted against it. Never less than `largest_loss`, of these stakes and of any that are left of them.
    Raises UnknownBet.
    """
    on_table = _on_table(variant, stakes)
    return max(_won(row, on_table) for row in _worst_rows(variant.bets))


def _on_table(variant: Variant, stakes: Mapping[str, int]) -> list[int]:
    for code in stakes:
        variant.bet(code)
    return [stakes.get(bet.code, 0) for bet in variant.bets]


def _won(row: Row, on_table: list[int]) -> int:
    return sum(pays.payout(stake) - stake for pays, stake in zip(row, on_table, strict=True) if pays is not None)


def _paid(row: Row, on_table: list[int]) -> int:
    return sum(pays.payout(stake) for pays, stake in zip(row, on_table, strict=True) if pays is not None)


@cache
def _worst_rows(bets: tuple[BetRule, ...]) -> tuple[Row, ...]:
    """All that these bets pay on one coup or another, without the rows that another one outdoes whatever is staked:
    a handful is left of more than a thousand coups.
    """
    rows = {tuple(bet.pays(coup) for bet in bets) for coup in EVERY_COUP}
    return tuple(row for row in rows if not any(_outdoes(other, row) for other in rows))


def _outdoes(one: Row, other: Row) -> bool:
    """Whether one row is nowhere worse for the players than another, and somewhere better."""
    gains = [(_gain(mine), _gain(theirs)) for mine, theirs in zip(one, other, strict=True)]
    return all(mine >= theirs for mine, theirs in gains) and any(mine > theirs for mine, theirs in gains)


def _gain(pays: Pays | None) -> Fraction:
    return Fraction(-1) if pays is None else pays.fraction
