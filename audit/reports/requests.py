"""Reports are asked for here: by staff, and by the house for the day before."""

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
PAUSE: Final = 60  # seconds after which beat has asked for it anyway
EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)  # no house is older, and sums of its whole life begin here
NOW: Final = timedelta(minutes=1)  # an interval that ended so shortly before it was asked for goes on


class CannotAsk(Exception):
    """There is no such report. The message is a sentence for staff."""


@transaction.atomic
def ask(
    *, kind: str, interval: Interval, zone: str, by: str, period: Period = Period.OWN, choices: Mapping[str, str]
) -> Report:
    """Ask for a report, which a worker makes soon. Its interval ends now at the latest, by the database's clock.

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
    """Ask for the same as *report* once more. Raises CannotAsk."""
    asked = asked_of(report)
    period = Period(report.choices["period"])
    return ask(kind=report.kind, interval=asked.interval, zone=asked.zone, by=by, period=period, choices=asked.choices)


def asked_of(report: Report) -> Asked:
    """Return what a report was asked to tell. What nobody could choose yet then is "", for all."""
    kind = kind_of(report.kind)
    rest = {choice.name: "" for choice in kind.choices} if kind else {}
    rest |= {name: value for name, value in report.choices.items() if name not in OURS}
    return Asked(Interval(report.since, report.until), rest, report.choices["zone"])


def goes_on(report: Report) -> bool:
    """Say whether the interval reached up to the moment at which it was asked for."""
    return report.asked_at - report.until < NOW


def clock() -> datetime:
    """Return what time it is by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def hint() -> None:
    """Send a message that a report waits. It is a hint only: without one, beat asks within a minute."""
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
