"""Daily reports: one of each kind for the previous day, in the operator's time zone."""

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction

from audit import hours
from audit.models import Report
from audit.reports import requests
from audit.reports.intervals import A_DAY, Period, began, midnight
from audit.reports.kinds import all_kinds

BY: Final = "system"
MOST_DAYS: Final = 14  # days made up for after an outage


def ask_due() -> None:
    """Request every missing daily report. Concurrent calls request each once: a constraint allows
    one per kind and day. A day is due when everything written on it is visible.
    """
    beginning, settled = began(), hours.settled()
    if beginning and settled:
        ask_between(beginning, settled)


def ask_between(beginning: datetime, settled: datetime) -> None:
    """Request every missing report of days that ended after *beginning* (the first event) and before *settled*."""
    for since, until in _days(beginning, settled):
        _ask(since, until)


def _days(beginning: datetime, settled: datetime) -> list[tuple[datetime, datetime]]:
    """Return the days that are over and ended after the first event, oldest first."""
    zone = settings.OPERATOR_TIME_ZONE
    today = settled.astimezone(ZoneInfo(zone)).date()
    days = [today - number * A_DAY for number in range(MOST_DAYS, 0, -1)]
    bounds = [(midnight(day, zone), midnight(day + timedelta(days=1), zone)) for day in days]
    return [(since, until) for since, until in bounds if until > beginning]


@transaction.atomic
def _ask(since: datetime, until: datetime) -> None:
    kinds = {kind.name: kind for kind in all_kinds() if kind.is_daily}
    there = Report.objects.filter(by=BY, since=since, kind__in=kinds).values_list("kind", flat=True)
    missing = [kind for name, kind in kinds.items() if name not in set(there)]
    Report.objects.bulk_create(
        [
            Report(
                kind=kind.name,
                since=since,
                until=until,
                by=BY,
                choices={"zone": settings.OPERATOR_TIME_ZONE, "period": str(Period.YESTERDAY)}
                | {choice.name: "" for choice in kind.choices},
            )
            for kind in missing
        ],
        ignore_conflicts=True,
    )
    if missing:
        transaction.on_commit(requests.hint)
