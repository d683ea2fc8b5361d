"""What can be done to many rows of a list at once. It is shown first, row by row: what happens, or why nothing does.
Whoever has read that says why they do it, and each row is then one deed of its own, in a transaction of its own, which
locks the row and plans anew: what one row refuses stops no other, and of two people at once the second is told what the
first has done.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.db import transaction
from django.db.models import QuerySet

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
    kept: str = "The log keeps it with every row."  # where the reason stands


@dataclass(frozen=True)
class Outcome:
    """What became of a row: whether it was done, and what is to be said of it."""

    row: Any
    is_done: bool
    what: str


class ReasonForm(forms.Form):
    """Why it is done."""

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST,
        error_messages={"required": "Say why: the reason is kept."},
    )


def carry_out(deed: Deed, rows: QuerySet[Any], *, reason: str, by: str) -> Sequence[Outcome]:
    """Do it to each of *rows* for which it is planned then, and tell what became of each."""
    return [_one(deed, rows, key, reason, by) for key in rows.values_list("pk", flat=True)]


def _one(deed: Deed, rows: QuerySet[Any], key: object, reason: str, by: str) -> Outcome:
    row: Any = None
    try:
        with transaction.atomic():
            row = rows.select_for_update(of=("self",)).get(pk=key)
            plan = deed.plan(row)
            if not plan.is_skipped:
                deed.do(row, reason, by)
    except deed.refusals as refusal:
        return Outcome(row, False, str(refusal))
    return Outcome(row, not plan.is_skipped, plan.what)
