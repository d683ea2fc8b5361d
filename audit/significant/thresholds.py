"""Thresholds of significant amounts: data per currency, changed with a reason and recorded."""

from dataclasses import dataclass
from typing import Final

from django.db import transaction

from audit import log
from audit.models import Threshold

CHANGED: Final = "threshold.changed"  # event kind
LONGEST: Final = 366  # days


class ThresholdError(Exception):
    """Thresholds were not changed; the message tells staff why."""


@dataclass(frozen=True)
class Limit:
    """Thresholds in minor units: for a single amount, and for the sum over some days."""

    single: int
    summed: int
    days: int


def threshold(what: str, currency: str) -> Limit | None:
    """Return the thresholds of *what* in *currency*, None where there are none."""
    return thresholds(what).get(currency)


def thresholds(what: str) -> dict[str, Limit]:
    """Return the thresholds of *what*, by currency."""
    return {
        each.currency: Limit(each.single, each.summed, each.days)
        for each in Threshold.objects.filter(what=what).order_by("currency")
    }


@transaction.atomic
def change(*, what: str, currency: str, before: Limit, after: Limit, reason: str, by: str) -> None:
    """Change the thresholds of *what* in *currency*. Existing findings stay as they are.

    *before* is the value that the person saw. Raises ThresholdError where it is no longer current,
    where *after* is the same or invalid, and without a reason.
    """
    if not reason.strip():
        raise ThresholdError("Enter a reason for the change.")
    if after.single < 1 or after.summed < after.single or not 1 <= after.days <= LONGEST:
        raise ThresholdError(
            f"The single amount must be above zero, the total not below it, and the days from 1 to {LONGEST}."
        )
    found = Threshold.objects.select_for_update().filter(what=what, currency=currency).first()
    if found is None or Limit(found.single, found.summed, found.days) != before:
        raise ThresholdError("Another person has changed this threshold. Check the current values.")
    if after == before:
        raise ThresholdError("The values are unchanged.")
    data: dict[str, log.Json] = {"before": _said(before), "after": _said(after), "reason": reason.strip()}
    log.record(CHANGED, by=by, on=f"threshold:{what}:{currency}", data=data)
    Threshold.objects.filter(what=what, currency=currency).update(
        single=after.single, summed=after.summed, days=after.days
    )


def _said(limit: Limit) -> dict[str, log.Json]:
    return {"single": limit.single, "summed": limit.summed, "days": limit.days}
