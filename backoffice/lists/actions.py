"""Bulk actions on rows of a list.

First a page shows for each row what the action will do, or why it will do nothing. Staff confirm
with a reason. Each row is then handled in its own transaction, which locks the row and plans again.
A refusal of one row does not stop the others. If two people act at once, the second sees what the
first has done.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

LONGEST: Final = 200  # characters of a reason
IN_THE_LOG: Final = gettext_lazy("Recorded in the audit log with every row.")


@dataclass(frozen=True)
class Plan:
    """Effect of the action on a row, or the reason why it has none if *is_skipped*."""

    what: str
    is_skipped: bool = False


@dataclass(frozen=True)
class Action:
    """Bulk action that staff can apply to chosen rows.

    *name* is its name in forms, *label* what staff read, *permission* what it requires, and
    *meaning* a sentence that explains it. *plan* plans it for a row and *do* carries it out. *do*
    may raise one of *refusals*, with a message for staff. *begin* takes a lock that must precede the
    lock of the row.
    """

    name: str
    label: str | Promise
    permission: str
    meaning: str | Promise
    plan: Callable[[Any], Plan]
    do: Callable[[Any, str, str], object]  # called with the row, the reason and the actor
    refusals: tuple[type[Exception], ...] = ()
    reason_help: str | Promise = IN_THE_LOG  # where the reason is kept
    begin: Callable[[], object] | None = None


@dataclass(frozen=True)
class Outcome:
    """Result for one row: whether the action was carried out, and a message."""

    row: Any
    is_done: bool
    what: str


class ReasonForm(forms.Form):
    """Reason for the action."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST,
        error_messages={"required": gettext_lazy("Enter a reason. It is recorded.")},
    )


def carry_out(action: Action, rows: QuerySet[Any], *, reason: str, by: str) -> Sequence[Outcome]:
    """Plan the action for each of *rows*, carry it out unless skipped, and return the results."""
    return [_one(action, rows, key, reason, by) for key in rows.values_list("pk", flat=True)]


def _one(action: Action, rows: QuerySet[Any], key: object, reason: str, by: str) -> Outcome:
    row: Any = None
    try:
        with transaction.atomic():
            if action.begin:
                action.begin()
            row = rows.select_for_update(of=("self",)).get(pk=key)
            plan = action.plan(row)
            if not plan.is_skipped:
                action.do(row, reason, by)
    except action.refusals as refusal:
        return Outcome(row, False, str(refusal))
    return Outcome(row, not plan.is_skipped, plan.what)
