"""Table limits and chips per currency, read from a table version and checked against a slip.
Amounts in minor units.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NotRequired, TypedDict

from games.errors import LimitError, OverMaximum, StakeOffStep, UnderMinimum, UnknownCurrency
from games.models import TableVersion


class StoredCurrency(TypedDict):
    """Limits in one currency as a table version stores them."""

    step: int
    chips: list[int]
    bets: dict[str, list[int]]  # bet -> [minimum, maximum]
    tray: NotRequired[list[int]]  # chips shown to a player who has chosen none; default: all
    liability: NotRequired[int]  # the most that all bets of a round may cost the house; shared tables only


StoredLimits = dict[str, StoredCurrency]
MAIN_BETS = frozenset({"player", "banker"})  # whose limits are shown for the table


@dataclass(frozen=True)
class BetLimits:
    """The minimum and maximum of one bet."""

    minimum: int
    maximum: int


@dataclass(frozen=True)
class Limits:
    """Limits of a table in one currency. Every stake and every chip is a multiple of *step*."""

    currency: str
    step: int
    chips: tuple[int, ...]
    bets: Mapping[str, BetLimits]
    tray: tuple[int, ...] = ()
    """The chips shown to a player who has chosen none."""
    liability: int | None = None
    """The most that all bets of a round at a shared table may cost the house."""

    @classmethod
    def at(cls, version: TableVersion, currency: str) -> "Limits":
        """Return the limits of a table version, which never change; read once for each instance of it.

        Raises UnknownCurrency.
        """
        read: dict[str, Limits] = vars(version).setdefault("_limits_read", {})
        if currency not in read:
            read[currency] = cls.of(version.limits, currency)
        return read[currency]

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

    @cached_property
    def lowest(self) -> int:
        """The smallest stake that any bet of the table allows."""
        return min(limits.minimum for limits in self.bets.values())

    @cached_property
    def main(self) -> BetLimits:
        """The range shown next to the table's name: the stakes that both Player and Banker accept."""
        main = [limits for bet, limits in self.bets.items() if bet in MAIN_BETS] or list(self.bets.values())
        return BetLimits(max(limits.minimum for limits in main), max(limits.maximum for limits in main))

    @cached_property
    def first_chip(self) -> int:
        """The chip selected at first: the smallest that is a valid stake on Player and on Banker."""
        return min((chip for chip in self.chips if chip >= self.main.minimum), default=max(self.chips))

    def check_maximum(self, stakes: Mapping[str, int]) -> None:
        """Refuse a stake over its maximum; a stake under its minimum may still grow. Raises OverMaximum."""
        for bet, stake in stakes.items():
            if stake > self.bets[bet].maximum:
                raise OverMaximum(bet, self.bets[bet].maximum, self.currency)

    def misfits(self, stakes: Mapping[str, int]) -> tuple[LimitError, ...]:
        """Return every LimitError of *stakes*, where `check` raises the first one only."""
        found = []
        for bet, stake in stakes.items():
            try:
                self.check({bet: stake})
            except LimitError as error:
                found.append(error)
        return tuple(found)

    def check(self, stakes: Mapping[str, int]) -> None:
        """Refuse stakes outside the limits. Raises UnderMinimum, OverMaximum, StakeOffStep."""
        self.check_maximum(stakes)
        for bet, stake in stakes.items():
            if stake < self.bets[bet].minimum:
                raise UnderMinimum(bet, self.bets[bet].minimum, self.currency)
            if stake % self.step:
                raise StakeOffStep(bet, self.step, self.currency)
