"""What each watch takes for a sign, as plain comparisons of amounts and times.

Amounts follow from what compliance has set for large deposits in each currency (`audit.significant.thresholds`). The
numbers beside them are the house's own choice: the law asks that such patterns be looked for (Directive (EU) 2015/849,
articles 13 and 18) and names no figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

UNPLAYED_WITHIN: Final = timedelta(days=30)
UNPLAYED_FROM: Final = Fraction(1, 4)  # of a large deposit: less than that passes through unremarked
UNPLAYED_STAKED: Final = Fraction(1, 2)  # of what passed through: less than that is little

JUST_UNDER: Final = Fraction(4, 5)  # of a large deposit: from there on, and less than one
SEVERAL: Final = 3  # deposits
SEVERAL_WITHIN: Final = timedelta(days=7)

SUDDEN_WITHIN: Final = timedelta(days=7)
MONTHS_BEFORE: Final = timedelta(days=84)  # what a player did in them is what they usually do
MONTH: Final = timedelta(days=28)
TIMES: Final = 3  # as much in the last days as usually in a month


@dataclass(frozen=True)
class Movement:
    """A deposit or a withdrawal of real money in minor units, as staff read what it was: "payment …"."""

    at: datetime
    amount: int
    about: str


def total(movements: Sequence[Movement]) -> int:
    """Return what they come to."""
    return sum(each.amount for each in movements)


def passed_through(deposits: Sequence[Movement], withdrawals: Sequence[Movement]) -> int:
    """Return how much of what came in was asked to be paid out again."""
    return min(total(deposits), total(withdrawals))


def is_unplayed(passed: int, staked: int, large: int) -> bool:
    """Say whether little was staked of what passed through, and that was enough to matter."""
    return passed >= UNPLAYED_FROM * large and staked < UNPLAYED_STAKED * passed


def kept_under(deposits: Sequence[Movement], large: int) -> tuple[Movement, ...]:
    """Return those of *deposits*, the last of which is the latest, that stay just under a large one within days; none
    where they are not several or do not come to more than one together.
    """
    last = deposits[-1]
    found = tuple(each for each in deposits if each.at > last.at - SEVERAL_WITHIN and is_just_under(each.amount, large))
    return found if last in found and len(found) >= SEVERAL and total(found) > large else ()


def is_just_under(amount: int, large: int) -> bool:
    """Say whether a deposit is almost a large one."""
    return JUST_UNDER * large <= amount < large


def usual(before: Sequence[Movement], days: int) -> Fraction:
    """Return what is usually deposited in a month, from the deposits of so many days."""
    return Fraction(total(before) * MONTH.days, days)


def is_sudden(lately: Sequence[Movement], in_a_month: Fraction, large: int) -> bool:
    """Say whether the deposits of the last days are far above what is usual, and enough to matter."""
    return total(lately) >= large and total(lately) > TIMES * in_a_month
