"""What can be done to many rows of a list at once. It is shown first, row by row: what happens, or why nothing does.
Whoever has read that says why they do it, and each row is then one deed of its own, in a transaction of its own: what
one row refuses stops no other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms

LONGEST: Final = 200  # characters of a reason


@dataclass(frozen=True)
class Plan:
    """What will happen to a row, or, where it *is_skipped*, why nothing will."""

    what: str
    is_skipped: bool = False


@dataclass(frozen=True)
class Deed:
    """Something to do to rows that were chosen: its name in forms, what staff read, the permission it takes, what it
    means as a sentence; what it plans for a row, and what does it, which may refuse by one of *refusals*, in words for
    staff.
    """

    name: str
    label: str
    permission: str
    meaning: str
    plan: Callable[[Any], Plan]
    do: Callable[[Any, str, str], object]  # the row, the reason, by whom
    refusals: tuple[type[Exception], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How many rows it was done to, and what those answered that refused it."""

    done: int
    refused: Sequence[str]


class ReasonForm(forms.Form):
    """Why it is done; the event of each row keeps it."""

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST,
        help_text="The log keeps it with every row.",
        error_messages={"required": "Say why: the reason is kept in the log."},
    )


def carry_out(deed: Deed, rows: Sequence[Any], *, reason: str, by: str) -> Outcome:
    """Do it to each of *rows* for which it is planned now."""
    done, refused = 0, []
    for row in rows:
        plan = deed.plan(row)
        if plan.is_skipped:
            refused.append(f"{row}: {plan.what}")
            continue
        try:
            deed.do(row, reason, by)
        except deed.refusals as refusal:
            refused.append(f"{row}: {refusal}")
        else:
            done += 1
    return Outcome(done, refused)
