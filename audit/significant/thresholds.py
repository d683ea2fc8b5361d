"""From which amounts on something is significant: data, per currency, changed with a reason and on record."""

from dataclasses import dataclass
from typing import Final

from django.db import transaction

from audit import log
from audit.models import Threshold

CHANGED: Final = "threshold.changed"  # the kind of event
LONGEST: Final = 366  # days


class ThresholdError(Exception):
    """Why thresholds were not changed, in words for staff."""


@dataclass(frozen=True)
class Limit:
    """In minor units: a single amount, and the sum over so many days."""

    single: int
    summed: int
    days: int


def threshold(what: str, currency: str) -> Limit | None:
    """Return from when on *what* is significant in *currency*, None where nobody has said so."""
    return thresholds(what).get(currency)


def thresholds(what: str) -> dict[str, Limit]:
    """Return from when on *what* is significant, by currency."""
    return {
        each.currency: Limit(each.single, each.summed, each.days)
        for each in Threshold.objects.filter(what=what).order_by("currency")
    }


@transaction.atomic
def change(*, what: str, currency: str, before: Limit, after: Limit, reason: str, by: str) -> None:
    """Say anew from when on *what* is significant in *currency*. What was found stays as it was found.

    *before* is what whoever changes it saw. Raises ThresholdError where it is something else by now, where *after* is
    the same or makes no sense, and without a reason.
    """
    if not reason.strip():
        raise ThresholdError("Say why it changes.")
    if after.single < 1 or after.summed < after.single or not 1 <= after.days <= LONGEST:
        raise ThresholdError(
            f"A single amount is more than nothing, the sum no less than it, and the days are from 1 to {LONGEST}."
        )
    found = Threshold.objects.select_for_update().filter(what=what, currency=currency).first()
    if found is None or Limit(found.single, found.summed, found.days) != before:
        raise ThresholdError("Somebody has changed it meanwhile. Look at what it is now.")
    if after == before:
        raise ThresholdError("That is what it is already.")
    data: dict[str, log.Json] = {"before": _said(before), "after": _said(after), "reason": reason.strip()}
    log.record(CHANGED, by=by, on=f"threshold:{what}:{currency}", data=data)
    Threshold.objects.filter(what=what, currency=currency).update(
        single=after.single, summed=after.summed, days=after.days
    )


def _said(limit: Limit) -> dict[str, log.Json]:
    return {"single": limit.single, "summed": limit.summed, "days": limit.days}
