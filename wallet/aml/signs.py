"""Criteria for signs of money laundering, as comparisons of amounts and times.

Amounts derive from the thresholds for large deposits that compliance sets for each currency
(`audit.significant.thresholds`). The other numbers are the house's own choice. The law requires
such patterns to be looked for (Directive (EU) 2015/849, articles 13 and 18) and names no figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

UNPLAYED_WITHIN: Final = timedelta(days=30)
UNPLAYED_FROM: Final = Fraction(1, 4)  # of a large deposit: minimum that must pass through
UNPLAYED_STAKED: Final = Fraction(1, 2)  # of what passed through: fewer stakes than this are few

JUST_UNDER: Final = Fraction(4, 5)  # of a large deposit: from here up to a large one
SEVERAL: Final = 3  # deposits
SEVERAL_WITHIN: Final = timedelta(days=7)

SUDDEN_WITHIN: Final = timedelta(days=7)
MONTHS_BEFORE: Final = timedelta(days=84)  # period that shows what is usual for a player
MONTH: Final = timedelta(days=28)
TIMES: Final = 3  # times the usual monthly amount, in the last days


@dataclass(frozen=True)
class Movement:
    """A deposit or withdrawal of real money in minor units.

    *about* names it for staff: "payment …".
    """

    at: datetime
    amount: int
    about: str


def total(movements: Sequence[Movement]) -> int:
    """Return the sum of the amounts."""
    return sum(each.amount for each in movements)


def passed_through(deposits: Sequence[Movement], withdrawals: Sequence[Movement]) -> int:
    """Return how much of the deposits was requested for withdrawal."""
    return min(total(deposits), total(withdrawals))


def is_unplayed(passed: int, staked: int, large: int) -> bool:
    """Return whether a relevant amount passed through with few stakes."""
    return passed >= UNPLAYED_FROM * large and staked < UNPLAYED_STAKED * passed


def kept_under(deposits: Sequence[Movement], large: int) -> tuple[Movement, ...]:
    """Return the deposits just under a large one within `SEVERAL_WITHIN` of the last one.

    Returns none if they are fewer than `SEVERAL` or do not exceed a large deposit in total.
    *deposits* is ordered by time.
    """
    last = deposits[-1]
    found = tuple(each for each in deposits if each.at > last.at - SEVERAL_WITHIN and is_just_under(each.amount, large))
    return found if last in found and len(found) >= SEVERAL and total(found) > large else ()


def is_just_under(amount: int, large: int) -> bool:
    """Return whether a deposit is just under a large one."""
    return JUST_UNDER * large <= amount < large


def usual(before: Sequence[Movement], days: int) -> Fraction:
    """Return the usual deposits of a month, computed from the deposits of *days* days."""
    return Fraction(total(before) * MONTH.days, days)


def is_sudden(lately: Sequence[Movement], in_a_month: Fraction, large: int) -> bool:
    """Return whether the last days' deposits are far above usual and large enough to matter."""
    return total(lately) >= large and total(lately) > TIMES * in_a_month
