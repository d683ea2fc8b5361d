"""What the house may come to lose in one round, worked out exactly over every coup there can be.

Stakes are those of all players together, bet by bet. Each player's win is rounded down by itself, so what is paid is
never more than what their sum would win: the loss named here is never less than the real one, and exceeds it by less
than a minor unit for each bet of each player.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from games.engine.bets import BetRule, Pays, Variant
from games.engine.conditions import EVERY_COUP

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
