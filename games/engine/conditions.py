"""What a bet can be won on, by name.

A condition looks either at the final totals or at the first two cards of each hand, never at both: so the exact
calculator may count coups by what their totals are, or by what their first cards are, and ask each condition once.
The two protocols say which; a `Coup` offers both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from games.engine.coup import Outcome, Pairing, Side, higher
from games.engine.tableau import NATURALS


class Totals(Protocol):
    """How a coup ended."""

    @property
    def player_total(self) -> int: ...
    @property
    def banker_total(self) -> int: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def natural(self) -> bool: ...


class FirstCards(Protocol):
    """How a coup began."""

    @property
    def player_pair(self) -> Pairing: ...
    @property
    def banker_pair(self) -> Pairing: ...


class Ending(NamedTuple):
    """The totals of a coup without its cards."""

    player_total: int
    banker_total: int
    natural: bool

    @property
    def outcome(self) -> Outcome:
        return higher(self.player_total, self.banker_total)


class Beginning(NamedTuple):
    """The pairs of a coup without its cards."""

    player_pair: Pairing
    banker_pair: Pairing


ENDINGS: Final = tuple(
    Ending(player, banker, natural)
    for natural in (False, True)
    for player in range(10)
    for banker in range(10)
    if not natural or player in NATURALS or banker in NATURALS
)
"""Every way a coup can end, as conditions see it."""

BEGINNINGS: Final = tuple(Beginning(player, banker) for player in Pairing for banker in Pairing)
"""Every way a coup can begin, as conditions see it."""


@dataclass(frozen=True, slots=True)
class OnTotals:
    """A condition on the final totals."""

    name: str
    holds: Callable[[Totals], bool]


@dataclass(frozen=True, slots=True)
class OnPairs:
    """A condition on the first two cards of each hand."""

    name: str
    holds: Callable[[FirstCards], bool]


Condition = OnTotals | OnPairs


def holding_cases(condition: Condition) -> str:
    """In which of all cases a condition holds, as a string of ones and zeros over ENDINGS or BEGINNINGS."""
    if isinstance(condition, OnTotals):
        held = [condition.holds(ending) for ending in ENDINGS]
    else:
        held = [condition.holds(beginning) for beginning in BEGINNINGS]
    return "".join("1" if holds else "0" for holds in held)


PLAYER_WINS: Final = OnTotals("player_wins", lambda coup: coup.outcome is Outcome.PLAYER)
BANKER_WINS: Final = OnTotals("banker_wins", lambda coup: coup.outcome is Outcome.BANKER)
TIE: Final = OnTotals("tie", lambda coup: coup.outcome is Outcome.TIE)

BANKER_WINS_WITH_SIX: Final = OnTotals(
    "banker_wins_with_six", lambda coup: coup.banker_total == 6 and coup.outcome is Outcome.BANKER
)

NATURAL_TIE: Final = OnTotals("natural_tie", lambda coup: coup.natural and coup.outcome is Outcome.TIE)


def wins_with_a_natural(side: Side) -> OnTotals:
    """The side wins and had 8 or 9 in two cards. (Whoever wins a coup with a natural in it had one.)"""
    won = Outcome(side)
    return OnTotals(f"{side}_wins_with_a_natural", lambda coup: coup.natural and coup.outcome is won)


def wins_by(side: Side, points: int) -> OnTotals:
    """The side is ahead by exactly so many points."""
    lead = points if side is Side.PLAYER else -points
    return OnTotals(f"{side}_wins_by_{points}", lambda coup: coup.player_total - coup.banker_total == lead)


PLAYER_PAIR: Final = OnPairs("player_pair", lambda coup: coup.player_pair is not Pairing.NONE)
BANKER_PAIR: Final = OnPairs("banker_pair", lambda coup: coup.banker_pair is not Pairing.NONE)
EITHER_PAIR: Final = OnPairs(
    "either_pair", lambda coup: coup.player_pair is not Pairing.NONE or coup.banker_pair is not Pairing.NONE
)
ONE_PERFECT_PAIR: Final = OnPairs(
    "one_perfect_pair",
    lambda coup: (coup.player_pair is Pairing.RANK_AND_SUIT) is not (coup.banker_pair is Pairing.RANK_AND_SUIT),
)
TWO_PERFECT_PAIRS: Final = OnPairs(
    "two_perfect_pairs",
    lambda coup: coup.player_pair is Pairing.RANK_AND_SUIT and coup.banker_pair is Pairing.RANK_AND_SUIT,
)
