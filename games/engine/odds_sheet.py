"""The odds of a game written out: as a table for people, as exact fractions for machines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from games.engine.bets import Variant
from games.engine.odds import BetOdds, exact, percent, square_root

COLUMNS = ("bet", "return %", "house edge %", "win %", "push %", "lose %", "std deviation")


def as_json(variant: Variant, decks: int) -> dict[str, Any]:
    """Every share as "numerator/denominator"; `percent` is the return in percent, rounded to four places."""
    bets = {bet: {**_fractions(odds), "percent": percent(odds.rtp, 4)} for bet, odds in exact(variant, decks).items()}
    return {"variant": variant.slug, "decks": decks, "bets": bets}


def as_table(variant: Variant, decks: int) -> list[str]:
    """Lines of text. Shares in percent; the standard deviation of the gain in units staked."""
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
