"""The third-card rules, the same for every punto banco game of the house."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NATURALS: Final = frozenset({8, 9})
"""Two-card totals that end the coup at once, whichever side holds one."""

STANDING: Final = frozenset({6, 7})
"""Two-card totals on which Player stands, and Banker too where Player has stood."""

BANKER_DRAWS_AGAINST: Final[Mapping[int, frozenset[int]]] = {
    0: frozenset(range(10)),
    1: frozenset(range(10)),
    2: frozenset(range(10)),
    3: frozenset({0, 1, 2, 3, 4, 5, 6, 7, 9}),
    4: frozenset({2, 3, 4, 5, 6, 7}),
    5: frozenset({4, 5, 6, 7}),
    6: frozenset({6, 7}),
    7: frozenset(),
}
"""Banker's two-card total, and the points of Player's third card against which Banker draws."""


def player_draws(total: int) -> bool:
    """Whether Player takes a third card on this two-card total, where nobody has a natural."""
    return total <= 5


def banker_draws(total: int, player_third: int | None) -> bool:
    """Whether Banker takes a third card on this two-card total, where nobody has a natural.

    `player_third` is the points of Player's third card, None where Player stood.
    """
    if player_third is None:
        return total <= 5
    return player_third in BANKER_DRAWS_AGAINST[total]
