"""How long what is kept: read here, changed by two people, and what it means for the personal values of events.

The database has the last word (``sql/functions/retention.sql``): nothing is kept for less than the law demands, and
nobody changes a period but by an approval of two.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg
from django.db import DatabaseError, connection, transaction

from audit import approvals, log
from audit.models import Approval, Kept, Retention

KIND: Final = "retention.change"
PERMISSION: Final = "audit.change_retention"
BATCH: Final = 1000  # personal values in one transaction
A_YEAR: Final = 365.25  # days
NOT_AS_ASKED = "SB008"  # SQLSTATE of audit_keep_for


class TooShort(Exception):
    """The law demands more days. The message is a sentence for staff."""


def kept(what: Kept) -> timedelta:
    """Return for how long *what* is kept."""
    return timedelta(days=Retention.objects.values_list("days", flat=True).get(pk=what))


def years(what: Kept) -> int:
    """Return for how many whole years *what* is kept, to tell people."""
    return round(kept(what).days / A_YEAR)


@transaction.atomic
def ask(*, what: Kept, days: int, by: str, person: UUID, reason: str) -> Approval:
    """Ask for *what* to be kept for *days* days. Another person decides.

    Raises TooShort; approvals.AskedTwice.
    """
    now = Retention.objects.get(pk=what)
    if days < now.minimum:
        raise TooShort(f"It is kept for at least {now.minimum} days.")
    request: dict[str, log.Json] = {"what": str(what), "before": now.days, "days": days}
    return approvals.ask(kind=KIND, on=f"retention:{what}", request=request, by=by, person=person, reason=reason)


def execute(request: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Change the period as two people agreed. Raises approvals.CannotExecute where it has changed meanwhile."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT audit_keep_for(%s)", [verdict.approval_id])
    except DatabaseError as error:
        cause = error.__cause__
        if not (isinstance(cause, psycopg.Error) and cause.sqlstate == NOT_AS_ASKED):
            raise
        raise approvals.CannotExecute("The period has changed since this was asked for.") from error


def describe(request: Mapping[str, log.Json]) -> approvals.Description:
    """Return the request in words."""
    facts = [("Now", f"{request['before']} days"), ("From then on", f"{request['days']} days")]
    return approvals.Description(f"Keep for {request['days']} days: {Kept(str(request['what'])).label}", facts)


def expire(what: Kept) -> int:
    """Delete the personal values of events whose time to be kept as *what* is over, and return how many there were.
    Each batch is on record; whoever is interrupted goes on where it ended.
    """
    count = 0
    while gone := _expire_some(what):
        count += gone
    return count


@transaction.atomic
def _expire_some(what: Kept) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_expire(%s, %s)", [what, BATCH])
        (gone,) = cursor.fetchone()
    return int(gone)
