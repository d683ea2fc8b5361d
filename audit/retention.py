"""Retention periods: reading them, changing them by approval, and expiring personal values of
events.

The database enforces the rules (``sql/functions/retention.sql``): no period is shorter than the law
demands, and only an approval by two people changes one.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg
from django.db import DatabaseError, connection, transaction
from django.utils.translation import gettext

from audit import approvals, log
from audit.models import Approval, RetainedData, Retention

KIND: Final = "retention.change"
PERMISSION: Final = "audit.change_retention"
BATCH: Final = 1000  # personal values in one transaction
A_YEAR: Final = 365.25  # days
NOT_AS_ASKED = "SB008"  # SQLSTATE of audit_keep_for


class TooShort(Exception):
    """The law demands a longer period. The message is a sentence for staff."""


def period(what: RetainedData) -> timedelta:
    """Return the retention period of *what*."""
    return timedelta(days=Retention.objects.values_list("days", flat=True).get(pk=what))


def years(what: RetainedData) -> int:
    """Return the retention period of *what* in whole years, for texts."""
    return round(period(what).days / A_YEAR)


@transaction.atomic
def ask(*, what: RetainedData, days: int, by: str, person: UUID, reason: str) -> Approval:
    """Request a retention period of *days* for *what*. Another person decides.

    Raises TooShort; approvals.AskedTwice.
    """
    now = Retention.objects.get(pk=what)
    if days < now.minimum:
        raise TooShort(gettext("The minimum period is %(minimum)s days.") % {"minimum": now.minimum})
    request: dict[str, log.Json] = {"what": str(what), "before": now.days, "days": days}
    return approvals.ask(kind=KIND, on=f"retention:{what}", request=request, by=by, person=person, reason=reason)


def execute(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Change the period as approved. Raises approvals.CannotExecute if it has changed since the request."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT audit_keep_for(%s)", [verdict.approval_id])
    except DatabaseError as error:
        cause = error.__cause__
        if not (isinstance(cause, psycopg.Error) and cause.sqlstate == NOT_AS_ASKED):
            raise
        raise approvals.CannotExecute(
            gettext("The period has changed since this was requested. Request the change again.")
        ) from error


def describe(request: Mapping[str, log.Json]) -> approvals.Description:
    """Describe a request to staff."""
    what = RetainedData(str(request["what"]))
    minimum = Retention.objects.values_list("minimum", flat=True).get(pk=what)
    facts = [
        (gettext("Data"), str(what.label)),
        (gettext("Current period"), gettext("%(count)s days") % {"count": request["before"]}),
        (gettext("New period"), gettext("%(count)s days") % {"count": request["days"]}),
        (gettext("Shortest period allowed"), gettext("%(count)s days") % {"count": minimum}),
    ]
    title = gettext("Keep for %(days)s days: %(label)s") % {"days": request["days"], "label": what.label}
    return approvals.Description(title, facts)


def expire(what: RetainedData) -> int:
    """Delete the personal values of events whose retention period as *what* is over, and return
    their number. Each batch is recorded; after an interruption the next call continues.
    """
    count = 0
    while gone := _expire_some(what):
        count += gone
    return count


@transaction.atomic
def _expire_some(what: RetainedData) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_expire(%s, %s)", [what, BATCH])
        (gone,) = cursor.fetchone()
    return int(gone)
