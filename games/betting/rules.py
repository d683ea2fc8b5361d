"""Changes of a slip before the deal, checked against the rules and limits of the table. Amounts in
minor units.
"""

from collections.abc import Callable, Mapping

from games.betting.controls import Change, Deal
from games.betting.limits import Limits
from games.betting.lower_bet import lower_bet
from games.betting.slip import Slip
from games.engine.bets import Variant
from games.errors import BalanceTooLow, NothingStaked

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
