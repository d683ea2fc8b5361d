"""The third-card rules, which are the same for all punto banco games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NATURALS: Final = frozenset({8, 9})
"""Two-card totals that end the coup at once if either side has one."""

STANDING: Final = frozenset({6, 7})
"""Two-card totals on which Player stands; Banker also stands on them if Player has stood."""

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
    """Return whether Player draws on this two-card total if no side has a natural."""
    return total <= 5


def banker_draws(total: int, player_third: int | None) -> bool:
    """Return whether Banker draws on this two-card total if no side has a natural.

    `player_third` is the points of Player's third card, or None if Player stood.
    """
    if player_third is None:
        return total <= 5
    return player_third in BANKER_DRAWS_AGAINST[total]
