"""A slip: bets being composed, not yet staked. Pure values; every change gives a new slip and remembers the one
before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from games.errors import NothingToRepeat

UNDO_DEPTH = 100


@dataclass(frozen=True)
class Slip:
    """Stakes in minor units per bet, and the earlier states that UNDO goes back to, latest last."""

    stakes: Mapping[str, int] = field(default_factory=dict)
    earlier: tuple[Mapping[str, int], ...] = ()

    @property
    def total(self) -> int:
        """Everything that lies on the table, minor units."""
        return sum(self.stakes.values())

    def add(self, bet: str, chip: int) -> "Slip":
        """Put one chip on a bet."""
        return self._with({**self.stakes, bet: self.stakes.get(bet, 0) + chip})

    def lay(self, stakes: Mapping[str, int]) -> "Slip":
        """Put several bets on top of what lies there, in one step."""
        more = {bet: self.stakes.get(bet, 0) + stake for bet, stake in stakes.items()}
        return self._with({**self.stakes, **more})

    def take(self, bet: str, chip: int) -> "Slip":
        """Take one chip off a bet, or all that lies there where it is less."""
        left = self.stakes.get(bet, 0) - chip
        others = {each: stake for each, stake in self.stakes.items() if each != bet}
        return self._with({**others, bet: left} if left > 0 else others)

    def lower(self, stakes: Mapping[str, int]) -> "Slip":
        """Bring the bets down to *stakes*."""
        return self._with(stakes)

    def double(self) -> "Slip":
        """Double every bet on the table."""
        return self._with({bet: 2 * stake for bet, stake in self.stakes.items()})

    def clear(self) -> "Slip":
        """Take every bet off."""
        return self._with({})

    def repeat(self, last_stakes: Mapping[str, int]) -> "Slip":
        """Put last round's bets in place of what lies there. Raises NothingToRepeat where there was no last round."""
        if not last_stakes:
            raise NothingToRepeat
        return self._with(last_stakes)

    def undo(self) -> "Slip":
        """Take back the latest change, whatever it was; an untouched slip stays as it is."""
        if not self.earlier:
            return self
        return Slip(self.earlier[-1], self.earlier[:-1])

    def _with(self, stakes: Mapping[str, int]) -> "Slip":
        if stakes == self.stakes:
            return self
        return Slip(stakes, (*self.earlier, self.stakes)[-UNDO_DEPTH:])
