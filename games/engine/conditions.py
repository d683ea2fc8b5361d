"""Named conditions that a bet can be won on.

A condition reads a coup only through `Facts`. Coups with the same facts belong to one `CoupClass`;
there are about a thousand classes. The exact calculator counts coups by class and uses the same
conditions that settle bets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from games.engine.coup import NATURALS, Outcome, Pairing, Side, higher


class Facts(Protocol):
    """The facts of a coup that a condition may read. `Coup` and `CoupClass` provide them."""

    @property
    def player_total(self) -> int: ...
    @property
    def banker_total(self) -> int: ...
    @property
    def natural(self) -> bool: ...
    @property
    def player_pair(self) -> Pairing: ...
    @property
    def banker_pair(self) -> Pairing: ...
    @property
    def outcome(self) -> Outcome: ...


class CoupClass(NamedTuple):
    """All coups that are equal for every condition."""

    player_total: int
    banker_total: int
    natural: bool
    player_pair: Pairing
    banker_pair: Pairing

    @property
    def outcome(self) -> Outcome:
        return higher(self.player_total, self.banker_total)


EVERY_COUP: Final = tuple(
    CoupClass(player, banker, natural, player_pair, banker_pair)
    for player in range(10)
    for banker in range(10)
    for natural in (False, True)
    for player_pair in Pairing
    for banker_pair in Pairing
    if not natural or player in NATURALS or banker in NATURALS
)


class Condition(NamedTuple):
    """A named predicate on a coup."""

    name: str
    holds: Callable[[Facts], bool]


PLAYER_WINS: Final = Condition("player_wins", lambda coup: coup.outcome is Outcome.PLAYER)
BANKER_WINS: Final = Condition("banker_wins", lambda coup: coup.outcome is Outcome.BANKER)
TIE: Final = Condition("tie", lambda coup: coup.outcome is Outcome.TIE)

BANKER_WINS_WITH_SIX: Final = Condition(
    "banker_wins_with_six", lambda coup: coup.banker_total == 6 and coup.outcome is Outcome.BANKER
)
NATURAL_TIE: Final = Condition("natural_tie", lambda coup: coup.natural and coup.outcome is Outcome.TIE)

PLAYER_PAIR: Final = Condition("player_pair", lambda coup: coup.player_pair is not Pairing.NONE)
BANKER_PAIR: Final = Condition("banker_pair", lambda coup: coup.banker_pair is not Pairing.NONE)
EITHER_PAIR: Final = Condition(
    "either_pair", lambda coup: coup.player_pair is not Pairing.NONE or coup.banker_pair is not Pairing.NONE
)
PERFECT_PAIR: Final = Condition(
    "perfect_pair", lambda coup: Pairing.RANK_AND_SUIT in (coup.player_pair, coup.banker_pair)
)
TWO_PERFECT_PAIRS: Final = Condition(
    "two_perfect_pairs", lambda coup: coup.player_pair is coup.banker_pair is Pairing.RANK_AND_SUIT
)


def wins_with_a_natural(side: Side) -> Condition:
    """Return the condition "this side wins, and it had 8 or 9 in two cards".

    If a coup has a natural, its winner has one.
    """
    won = Outcome(side)
    return Condition(f"{side}_wins_with_a_natural", lambda coup: coup.natural and coup.outcome is won)


def wins_by(side: Side, points: int) -> Condition:
    """Return the condition "this side wins by exactly this number of points"."""
    lead = points if side is Side.PLAYER else -points
    return Condition(f"{side}_wins_by_{points}", lambda coup: coup.player_total - coup.banker_total == lead)
