"""The bet slip: what its controls decide, its changes before the deal, and offers of lower bets.

Changes are checked against the rules and limits of the table. Pure; amounts in minor units.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from games.betting.limits import Limits
from games.engine.bets import Control, Variant
from games.errors import BalanceTooLow, NothingStaked, NothingToRepeat, NotOffered
from wallet.models import AccountKind


class Deal(StrEnum):
    """Way to deal the slip: unchanged, doubled first, or replaced by last round's bets first."""

    AS_PLACED = "deal"
    DOUBLED = "double_deal"
    REPEATED = "rebet_deal"


class Change(StrEnum):
    """A change of the whole slip."""

    UNDO = "undo"
    CLEAR = "clear"
    DOUBLE = "double"
    REPEAT = "rebet"
    LOWER = "lower"  # to the most that the game's balance covers


CONTROL_OF: Mapping[Deal | Change, Control] = {
    Deal.AS_PLACED: Control.DEAL,
    Deal.DOUBLED: Control.DOUBLE_AND_DEAL,
    Deal.REPEATED: Control.REBET_AND_DEAL,
    Change.UNDO: Control.UNDO,
    Change.CLEAR: Control.CLEAR,
    Change.DOUBLE: Control.DOUBLE,
    Change.REPEAT: Control.REBET,
    Change.LOWER: Control.REBUY,
}


def demand(variant: Variant, control: Control) -> None:
    """Refuse a control that the game does not offer. Raises NotOffered."""
    if control not in variant.controls:
        raise NotOffered


def demand_deal(variant: Variant, how: Deal) -> None:
    """Refuse a way to deal that the game does not offer. Raises NotOffered.

    Dealing the bets unchanged depends on the table, not on the game: every table for one player
    offers it.
    """
    if how is not Deal.AS_PLACED:
        demand(variant, CONTROL_OF[how])


def plays_on(variant: Variant) -> AccountKind:
    """Return the account that the game plays on: its own purse if the game has Re-buy."""
    return AccountKind.PURSE if Control.REBUY in variant.controls else AccountKind.CASH


def bets_stand(variant: Variant) -> bool:
    """Return whether bets stay on the table for the next round: they do if the game has no Rebet."""
    return Control.REBET not in variant.controls


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


def lower_bet(stakes: Mapping[str, int], limits: Limits, funds: int) -> Mapping[str, int]:
    """Return *stakes* lowered in proportion to the most that *funds* cover; {} if they cover no
    bet.

    The remainder after rounding to the table's step goes to the largest bet first. No bet grows,
    and none stays under its minimum.
    """
    total = sum(stakes.values())
    if total <= funds:
        return dict(stakes)
    lowered = {bet: _allowed(bet, stake * funds // total, limits) for bet, stake in stakes.items()}
    for bet in sorted(stakes, key=lambda bet: -stakes[bet]):
        left = funds - sum(lowered.values())
        lowered[bet] = _allowed(bet, min(stakes[bet], lowered[bet] + left), limits)
    return {bet: stake for bet, stake in lowered.items() if stake}


def _allowed(bet: str, stake: int, limits: Limits) -> int:
    """Return the largest allowed stake up to *stake*, or 0 if *stake* is under the minimum."""
    stake = min(stake - stake % limits.step, limits.bets[bet].maximum)
    return stake if stake >= limits.bets[bet].minimum else 0


Funds = Callable[[], int]  # returns the funds to play with; called only when needed


def changed(slip: Slip, change: Change, *, last_stakes: Mapping[str, int], limits: Limits, funds: Funds) -> Slip:
    """Undo, clear, double, repeat or lower the slip. Raises NothingToRepeat."""
    if change is Change.REPEAT:
        return slip.repeat(last_stakes)
    if change is Change.DOUBLE:
        return slip.double()
    if change is Change.LOWER:
        return slip.lower(lower_bet(slip.stakes, limits, funds()))
    return slip.clear() if change is Change.CLEAR else slip.undo()


def check_change(before: Slip, after: Slip, *, variant: Variant, limits: Limits, funds: Funds) -> None:
    """Refuse bets against rules or limits, and an increase that the balance does not cover.

    Bets kept from the last round may exceed the balance; they can still be removed. Raises
    OverMaximum, BalanceTooLow, or an engine's SettlementError.
    """
    if after.stakes:
        variant.check(after.stakes)
        limits.check_maximum(after.stakes)
        if after.total > before.total and after.total > funds():
            raise BalanceTooLow


def stakes_of(
    slip: Slip, how: Deal, *, last_stakes: Mapping[str, int], variant: Variant, limits: Limits
) -> Mapping[str, int]:
    """Return the stakes to deal with. Raises NothingStaked, NothingToRepeat, LimitError, SettlementError."""
    if how is Deal.DOUBLED:
        slip = slip.double()
    elif how is Deal.REPEATED:
        slip = slip.repeat(last_stakes)
    if not slip.stakes:
        raise NothingStaked
    variant.check(slip.stakes)
    limits.check(slip.stakes)
    return slip.stakes
