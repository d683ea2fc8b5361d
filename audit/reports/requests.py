"""Requests for reports, by staff and by the daily schedule."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from celery import current_app
from django.db import connection, transaction
from kombu.exceptions import OperationalError

from audit.models import Report
from audit.reports.intervals import Period
from audit.reports.kinds import OURS, Asked, Interval, Kind, kind_of

TASK: Final = "audit.tasks.make_reports"
PAUSE: Final = 60  # seconds; beat asks within this time anyway
# earlier intervals are refused, and totals of the whole life begin here
EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
NOW: Final = timedelta(minutes=1)  # an interval that ended less than this before the request counts as ongoing


class CannotAsk(Exception):
    """The request is invalid. The message is a sentence for staff."""


@transaction.atomic
def ask(
    *, kind: str, interval: Interval, zone: str, by: str, period: Period = Period.OWN, choices: Mapping[str, str]
) -> Report:
    """Request a report, which a worker makes soon. The interval must not end in the future, by the
    database's clock.

    Raises CannotAsk.
    """
    found = kind_of(kind)
    if found is None:
        raise CannotAsk("There is no such report.")
    if interval.since >= interval.until:
        raise CannotAsk("The interval has to begin before it ends.")
    if interval.since < EARLIEST:
        raise CannotAsk(f"The interval may not begin before the year {EARLIEST.year}.")
    if interval.until > clock():
        raise CannotAsk("The interval may not end in the future.")
    report = Report.objects.create(
        kind=kind,
        since=interval.since,
        until=interval.until,
        choices={"zone": zone, "period": str(period), **_chosen(found, choices)},
        by=by,
    )
    report.refresh_from_db()
    transaction.on_commit(hint)
    return report


def ask_again(report: Report, *, by: str) -> Report:
    """Request *report* again. Raises CannotAsk."""
    asked = asked_of(report)
    period = Period(report.choices["period"])
    return ask(kind=report.kind, interval=asked.interval, zone=asked.zone, by=by, period=period, choices=asked.choices)


def asked_of(report: Report) -> Asked:
    """Return the request of a report. Choices that did not exist then are "", for all."""
    kind = kind_of(report.kind)
    rest = {choice.name: "" for choice in kind.choices} if kind else {}
    rest |= {name: value for name, value in report.choices.items() if name not in OURS}
    return Asked(Interval(report.since, report.until), rest, report.choices["zone"])


def goes_on(report: Report) -> bool:
    """Return whether the interval reached up to the time of the request."""
    return report.asked_at - report.until < NOW


def clock() -> datetime:
    """Return the current time of the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def hint() -> None:
    """Tell the workers that a report is waiting. Optional: otherwise beat does within a minute."""
    with suppress(OperationalError):
        current_app.send_task(TASK, retry=False, expires=PAUSE)


def _chosen(kind: Kind, choices: Mapping[str, str]) -> dict[str, str]:
    """Return a value for each choice of the kind, "" for all. Raises CannotAsk."""
    chosen = {choice.name: choices.get(choice.name, "") for choice in kind.choices}
    for choice in kind.choices:
        value = chosen[choice.name]
        if value and choice.options and value not in choice.named():
            raise CannotAsk(f"{choice.heading}: there is no {value}.")
    if strange := set(choices) - set(chosen):
        raise CannotAsk(f"There is nothing to choose called {', '.join(sorted(strange))}.")
    return chosen
