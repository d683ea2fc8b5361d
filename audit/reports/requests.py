"""Requests for reports, by staff and by the daily schedule (one of each kind for the previous day)."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.utils.translation import gettext
from kombu.exceptions import OperationalError

from audit import hours
from audit.models import Report
from audit.reports.kinds import A_DAY, OURS, Asked, Interval, Kind, Period, all_kinds, began, kind_of, midnight

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
        raise CannotAsk(gettext("Unknown report."))
    if interval.since >= interval.until:
        raise CannotAsk(gettext("The start must be before the end."))
    if interval.since < EARLIEST:
        raise CannotAsk(gettext("The start must not be before the year %(year)s.") % {"year": EARLIEST.year})
    if interval.until > clock():
        raise CannotAsk(gettext("The end must not be in the future."))
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
            raise CannotAsk(
                gettext("%(heading)s: unknown value “%(value)s”.") % {"heading": choice.heading, "value": value}
            )
    if strange := set(choices) - set(chosen):
        raise CannotAsk(gettext("Unknown option: %(join)s.") % {"join": ", ".join(sorted(strange))})
    return chosen


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
        transaction.on_commit(hint)
