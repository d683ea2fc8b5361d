"""The figures of Chemin de Fer (decks, tax, third cards, shares of each call), and their digest.

The rules are the house rules of a German casino. `docs/chemin.md` says what applies where that text
is silent, and why. The digest changes when any rule that decides about money changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from games.engine.cards import Rank
from games.engine.chemin import machine
from games.engine.coup import NATURALS

DECKS: Final = 6

CUT_CARD: Final = 14
"""The number of cards behind the cut card.

A coup takes at most six, so a coup that has begun can always be finished.
"""

TAX: Final = Fraction(5, 100)
"""The house's share of what the banker wins from the punters in a coup."""

FEWEST_SEATS: Final = 3
MOST_SEATS: Final = 9
FEWEST_PLAYERS: Final = 2


class RulesError(ValueError):
    """The table rules have impossible figures."""


@dataclass(frozen=True, slots=True)
class TableRules:
    """The rules of one table: number of seats, smallest and largest bank in minor units.

    Raises RulesError.
    """

    seat_count: int
    minimum: int
    maximum: int

    def __post_init__(self) -> None:
        if not FEWEST_SEATS <= self.seat_count <= MOST_SEATS:
            raise RulesError(f"a table has {FEWEST_SEATS} to {MOST_SEATS} seats, not {self.seat_count}")
        if not 0 < self.minimum <= self.maximum:
            raise RulesError(f"no bank is possible between {self.minimum} and {self.maximum}")


class Side(StrEnum):
    """The two hands of a coup. One punter plays for all who staked; the banker plays alone."""

    PUNTER = "punter"
    BANKER = "banker"


class Outcome(StrEnum):
    """The result of a coup: the side with the higher total, or a draw."""

    PUNTER = "punter"
    BANKER = "banker"
    DRAW = "draw"


class Advice(StrEnum):
    """The rule for a hand of two cards, which the croupier gives as the answer."""

    DRAW = "draw"
    STAND = "stand"
    AS_YOU_PLEASE = "as_you_please"

    def allows(self, draws: bool) -> bool:
        """Return whether drawing (or standing, if not `draws`) is within the rule."""
        return self is Advice.AS_YOU_PLEASE or draws is (self is Advice.DRAW)


STAKES_RETURNED: Final[Mapping[Outcome, int]] = {Outcome.PUNTER: 2, Outcome.DRAW: 1, Outcome.BANKER: 0}
"""The multiple of a punter's stake that is returned: double, single, or nothing."""

BANKER_DRAWS_AGAINST: Final[Mapping[int, frozenset[int]]] = {
    0: frozenset(range(10)),
    1: frozenset(range(10)),
    2: frozenset(range(10)),
    3: frozenset({0, 1, 2, 3, 4, 5, 6, 7}),
    4: frozenset({3, 4, 5, 6, 7}),
    5: frozenset({5, 6, 7}),
    6: frozenset({6, 7}),
    7: frozenset(),
}
"""Banker's two-card total, and the points of the punter's third card against which the banker must
draw.
"""

BANKER_CHOOSES_AGAINST: Final[Mapping[int, frozenset[int]]] = {3: frozenset({9}), 5: frozenset({4})}
"""Banker's two-card total, and the points of the punter's third card against which the banker may
choose.
"""


def punter_rule(total: int) -> Advice:
    """Return the rule for the punter on this two-card total, 0 to 7. A natural needs
    no decision.
    """
    if total == 5:
        return Advice.AS_YOU_PLEASE
    return Advice.DRAW if total < 5 else Advice.STAND


def banker_rule(total: int, punter_third: int | None) -> Advice:
    """Return the rule for the banker on this two-card total, 0 to 7.

    `punter_third` is the points of the punter's third card, or None if the punter stood.
    """
    if punter_third is None:
        return Advice.DRAW if total <= 5 else Advice.STAND
    if punter_third in BANKER_CHOOSES_AGAINST.get(total, ()):
        return Advice.AS_YOU_PLEASE
    return Advice.DRAW if punter_third in BANKER_DRAWS_AGAINST[total] else Advice.STAND


def outcome_of(punter_total: int, banker_total: int) -> Outcome:
    """Return the outcome: the higher total wins, equal totals are a draw."""
    if punter_total == banker_total:
        return Outcome.DRAW
    return Outcome.PUNTER if punter_total > banker_total else Outcome.BANKER


def tax_on(won: int) -> int:
    """Return the tax on the stakes that a banker wins in one coup, rounded down to
    the minor unit.
    """
    return won * TAX.numerator // TAX.denominator


class Call(StrEnum):
    """The calls before the stakes. The French terms are used in every language."""

    BANCO_SOLO = "banco_solo"
    BANCO = "banco"
    BANCO_ET_LA_TABLE_MARCHE = "banco_et_la_table_marche"
    BANCO_AVEC_LA_TABLE = "banco_avec_la_table"

    @property
    def covers_the_bank(self) -> bool:
        """True if the caller covers the whole bank, less what the others take over."""
        return self is not Call.BANCO_AVEC_LA_TABLE

    def smallest_stake(self, bank: int) -> int:
        """Return the amount that the caller must be able to stake.

        The caller takes the odd minor unit of a half.
        """
        return bank if self.covers_the_bank else bank - bank // 2

    def share_for_others(self, bank: int) -> int:
        """Return how much of the bank the others may take over together."""
        return 0 if self is Call.BANCO_SOLO else bank // 2


_BANKS = (100, 101)
"""An even and an odd bank, which show who gets the odd minor unit of a half."""


def rules_digest(version: str) -> str:
    """Return the SHA-256, in hex, of all figures that decide about money and of the version of the
    rules.

    Tables and calls are included with their result in every case, not only by name. The flow of a
    coup is code and is covered by the version.
    """
    thirds = (None, *range(10))
    figures = {
        "version": version,
        "decks": DECKS,
        "cut card": CUT_CARD,
        "points": {rank.letter: rank.points for rank in Rank},
        "naturals": sorted(NATURALS),
        "tax": str(TAX),
        "tax on 0 to 100": [tax_on(won) for won in range(101)],
        "seats": [FEWEST_SEATS, MOST_SEATS],
        "fewest players": FEWEST_PLAYERS,
        "punter": [punter_rule(total).value for total in range(8)],
        "banker": [[banker_rule(total, third).value for third in thirds] for total in range(8)],
        "free choices of the croupier": {side.value: said.value for side, said in machine.AT_A_FREE_CHOICE.items()},
        "outcomes": [[outcome_of(punter, banker).value for banker in range(10)] for punter in range(10)],
        "stakes returned": {outcome.value: times for outcome, times in STAKES_RETURNED.items()},
        "calls": {
            call.value: [[call.smallest_stake(bank), call.share_for_others(bank)] for bank in _BANKS] for call in Call
        },
    }
    canonical = json.dumps(figures, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
