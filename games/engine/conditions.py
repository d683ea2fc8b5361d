"""What a bet can be won on, by name.

A condition looks at a coup through `Facts` only. All coups with the same facts are one `CoupClass`, of which there are
about a thousand: so the exact calculator counts coups by class and asks the very condition that settles bets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from games.engine.coup import Outcome, Pairing, Side, higher
from games.engine.tableau import NATURALS


class Facts(Protocol):
    """What a condition may look at. A `Coup` offers it, and so does a `CoupClass`."""

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
    """All coups that look alike to every condition."""

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
    """Something that is true of a coup or not."""

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
    """The side wins and had 8 or 9 in two cards: where there is a natural at all, the winner has one."""
    won = Outcome(side)
    return Condition(f"{side}_wins_with_a_natural", lambda coup: coup.natural and coup.outcome is won)


def wins_by(side: Side, points: int) -> Condition:
    """The side is ahead by exactly so many points."""
    lead = points if side is Side.PLAYER else -points
    return Condition(f"{side}_wins_by_{points}", lambda coup: coup.player_total - coup.banker_total == lead)
