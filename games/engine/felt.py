"""The layout of the bet areas of a punto banco table, as a variant declares it.

Rules and money do not depend on it.

A layout is a list of rows from top to bottom. A row is a list of bets from left to right with their
relative widths. The style sheets decide how high a row is, which fonts it has and which window has
which layout.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

CODE: Final = re.compile(r"[a-z][a-z0-9_]*")
"""The format of a bet code. Style sheets use the code as the name of a grid area."""


class FeltError(ValueError):
    """A felt layout omits a bet, repeats it, or names a bet that the game does not have."""


class Tone(StrEnum):
    """The colour scheme of a bet area."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
    PLAIN = "plain"


class Height(StrEnum):
    """The height of a row."""

    MAIN = "main"
    SIDE = "side"  # also smaller print
    SLIM = "slim"  # name, odds and chips in one line


class Row(NamedTuple):
    """One row: the code of each bet and its share of the width."""

    height: Height
    bets: tuple[tuple[str, int], ...]


Layout = tuple[Row, ...]


def row(height: Height, **bets: int) -> Row:
    """Return a row of these bets, each with its share of the width."""
    return Row(height, tuple(bets.items()))


@dataclass(frozen=True)
class Felt:
    """The layouts of a game for a desktop, for a phone held upright, and for a phone on its
    side.
    """

    tones: Mapping[str, Tone]
    """By bet code. A bet without an entry is plain."""
    wide: Layout
    narrow: Layout
    low: Layout

    def check(self, bets: Collection[str]) -> None:
        """Check that each layout contains each of these bets once. Raises FeltError."""
        for layout in (self.wide, self.narrow, self.low):
            placed = Counter(code for each in layout for code, _ in each.bets)
            if placed != Counter(bets):
                raise FeltError(f"the felt has {sorted(placed.elements())}, the game {sorted(bets)}")
        if unfit := sorted(code for code in bets if not CODE.fullmatch(code)):
            raise FeltError(f"no name for an area: {unfit}")
        if unknown := self.tones.keys() - set(bets):
            raise FeltError(f"tones of unknown bets: {sorted(unknown)}")

    def tone(self, bet: str) -> Tone:
        """Return the tone of a bet."""
        return self.tones.get(bet, Tone.PLAIN)

    def is_side(self, bet: str) -> bool:
        """Return whether a bet has the smaller print of side bets."""
        return _height(self.wide, bet) is Height.SIDE

    def is_slim(self, bet: str) -> bool:
        """Return whether a bet is shown in one line on a phone held upright."""
        return _height(self.narrow, bet) is Height.SLIM


def grid(layout: Layout) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return a layout as a grid of equal columns.

    The first part has one string per row with the area of each column, as CSS writes it ("player
    player tie banker banker"). The second part has the relative widths of the columns. A single row
    has one column per bet, as wide as the bet.
    """
    if len(layout) == 1:
        (only,) = layout
        return (" ".join(code for code, _ in only.bets),), tuple(share for _, share in only.bets)
    columns = math.lcm(*map(_width, layout))
    rows = (
        " ".join(code for code, share in each.bets for _ in range(share * columns // _width(each))) for each in layout
    )
    return tuple(rows), (1,) * columns


def _width(each: Row) -> int:
    return sum(share for _, share in each.bets)


def _height(layout: Layout, bet: str) -> Height:
    return next(each.height for each in layout if bet in dict(each.bets))
