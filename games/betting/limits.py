"""Table limits and chips per currency: read from a table version, checked against a slip. Amounts are minor units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from games.errors import LimitError, OverMaximum, StakeOffStep, UnderMinimum, UnknownCurrency


class StoredCurrency(TypedDict):
    """Limits in one currency as a table version keeps them."""

    step: int
    chips: list[int]
    bets: dict[str, list[int]]  # bet -> [minimum, maximum]
    tray: NotRequired[list[int]]  # the chips of whoever has chosen none; all of them where it is left out
    liability: NotRequired[int]  # the most that all bets of a round may cost the house; shared tables only


StoredLimits = dict[str, StoredCurrency]
MAIN_BETS = frozenset({"player", "banker"})  # what a table is known by


@dataclass(frozen=True)
class BetLimits:
    """The least and the most that may lie on one bet."""

    minimum: int
    maximum: int


@dataclass(frozen=True)
class Limits:
    """What a table allows in one currency. Every stake is a multiple of *step*; so is every chip."""

    currency: str
    step: int
    chips: tuple[int, ...]
    bets: Mapping[str, BetLimits]
    tray: tuple[int, ...] = ()
    """The chips in the tray of whoever has chosen none."""
    liability: int | None = None
    """The most that all bets of a round at a shared table may cost the house."""

    @classmethod
    def of(cls, stored: StoredLimits, currency: str) -> "Limits":
        """Read the limits for *currency* from a table version's JSON.

        Shape: ``{"SEK": {"step": 1000, "chips": [1000, …], "bets": {"player": [1000, 500000], …}}}``. Raises
        UnknownCurrency.
        """
        if currency not in stored:
            raise UnknownCurrency(currency)
        entry = stored[currency]
        return cls(
            currency=currency,
            step=entry["step"],
            chips=tuple(entry["chips"]),
            bets={bet: BetLimits(minimum, maximum) for bet, (minimum, maximum) in entry["bets"].items()},
            tray=tuple(entry.get("tray", entry["chips"])),
            liability=entry.get("liability"),
        )

    @property
    def lowest(self) -> int:
        """The smallest stake that any bet of the table allows."""
        return min(limits.minimum for limits in self.bets.values())

    @property
    def main(self) -> BetLimits:
        """The range that stands beside the table's name: that of Player and Banker, from what both take."""
        main = [limits for bet, limits in self.bets.items() if bet in MAIN_BETS] or list(self.bets.values())
        return BetLimits(max(limits.minimum for limits in main), max(limits.maximum for limits in main))

    @property
    def first_chip(self) -> int:
        """The chip in the hand of whoever has chosen none: the smallest that is a stake on Player and on Banker."""
        return min((chip for chip in self.chips if chip >= self.main.minimum), default=max(self.chips))

    def check_maximum(self, stakes: Mapping[str, int]) -> None:
        """Refuse what lies over a bet's maximum; what lies under its minimum may still grow. Raises OverMaximum."""
        for bet, stake in stakes.items():
            if stake > self.bets[bet].maximum:
                raise OverMaximum(bet, self.bets[bet].maximum, self.currency)

    def misfits(self, stakes: Mapping[str, int]) -> tuple[LimitError, ...]:
        """Return what `check` has against each of *stakes*, and not only against the first."""
        found = []
        for bet, stake in stakes.items():
            try:
                self.check({bet: stake})
            except LimitError as error:
                found.append(error)
        return tuple(found)

    def check(self, stakes: Mapping[str, int]) -> None:
        """Refuse stakes that may not be dealt. Raises UnderMinimum, OverMaximum, StakeOffStep."""
        self.check_maximum(stakes)
        for bet, stake in stakes.items():
            if stake < self.bets[bet].minimum:
                raise UnderMinimum(bet, self.bets[bet].minimum, self.currency)
            if stake % self.step:
                raise StakeOffStep(bet, self.step, self.currency)
