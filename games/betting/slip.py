"""The bet slip: bets not yet staked. Immutable; every change returns a new slip that remembers the
previous one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from games.errors import NothingToRepeat

UNDO_DEPTH = 100


@dataclass(frozen=True)
class Slip:
    """Stakes per bet in minor units, and the earlier states for UNDO, latest last."""

    stakes: Mapping[str, int] = field(default_factory=dict)
    earlier: tuple[Mapping[str, int], ...] = ()

    @property
    def total(self) -> int:
        """The sum of all bets, in minor units."""
        return sum(self.stakes.values())

    def add(self, bet: str, chip: int) -> "Slip":
        """Put one chip on a bet."""
        return self._with({**self.stakes, bet: self.stakes.get(bet, 0) + chip})

    def lay(self, stakes: Mapping[str, int]) -> "Slip":
        """Add several bets to the slip in one step."""
        more = {bet: self.stakes.get(bet, 0) + stake for bet, stake in stakes.items()}
        return self._with({**self.stakes, **more})

    def take(self, bet: str, chip: int) -> "Slip":
        """Take one chip off a bet, or the whole bet if it is smaller."""
        left = self.stakes.get(bet, 0) - chip
        others = {each: stake for each, stake in self.stakes.items() if each != bet}
        return self._with({**others, bet: left} if left > 0 else others)

    def lower(self, stakes: Mapping[str, int]) -> "Slip":
        """Replace the bets by the lowered *stakes*."""
        return self._with(stakes)

    def double(self) -> "Slip":
        """Double every bet on the table."""
        return self._with({bet: 2 * stake for bet, stake in self.stakes.items()})

    def clear(self) -> "Slip":
        """Remove every bet."""
        return self._with({})

    def repeat(self, last_stakes: Mapping[str, int]) -> "Slip":
        """Replace the slip by last round's bets. Raises NothingToRepeat if there was no last round."""
        if not last_stakes:
            raise NothingToRepeat
        return self._with(last_stakes)

    def undo(self) -> "Slip":
        """Undo the latest change; an unchanged slip is returned as it is."""
        if not self.earlier:
            return self
        return Slip(self.earlier[-1], self.earlier[:-1])

    def _with(self, stakes: Mapping[str, int]) -> "Slip":
        if stakes == self.stakes:
            return self
        return Slip(stakes, (*self.earlier, self.stakes)[-UNDO_DEPTH:])
