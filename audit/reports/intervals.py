"""Intervals of reports: days, weeks, months and years in a time zone, life to date, or any two times."""

from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_lazy

from audit.models import Event
from audit.reports.kinds import Interval

A_DAY = timedelta(days=1)


class Period(StrEnum):
    """Kind of interval. Periods that are not over end now."""

    TODAY = "today"
    YESTERDAY = "yesterday"
    THIS_WEEK = "this_week"
    LAST_WEEK = "last_week"
    THIS_MONTH = "this_month"
    LAST_MONTH = "last_month"
    THIS_YEAR = "this_year"
    LAST_YEAR = "last_year"
    LIFE = "life"
    OWN = "own"


NAMES = {
    Period.TODAY: gettext_lazy("Today, up to now"),
    Period.YESTERDAY: gettext_lazy("Yesterday"),
    Period.THIS_WEEK: gettext_lazy("This week, up to now"),
    Period.LAST_WEEK: gettext_lazy("Last week"),
    Period.THIS_MONTH: gettext_lazy("This month, up to now"),
    Period.LAST_MONTH: gettext_lazy("Last month"),
    Period.THIS_YEAR: gettext_lazy("This year, up to now"),
    Period.LAST_YEAR: gettext_lazy("Last year"),
    Period.LIFE: gettext_lazy("Life to date"),
    Period.OWN: gettext_lazy("Custom (from … to …)"),
}


def interval_of(period: Period, *, now: datetime, zone: str) -> Interval:
    """Return the interval of *period* at the time *now* in *zone*. Weeks begin on Monday. A day
    that begins exactly now gives an empty interval. Raises ValueError for OWN.
    """
    today = now.astimezone(ZoneInfo(zone)).date()
    if period is Period.LIFE:
        return Interval(began() or midnight(today, zone), now)
    first, after = _days(period, today)
    return Interval(midnight(first, zone), now if after is None else midnight(after, zone))


def next_end(period: Period, *, now: datetime, zone: str) -> datetime:
    """Return the end of the day, week or month that is going on at *now*.

    *period* is YESTERDAY, LAST_WEEK or LAST_MONTH: at that time it is the interval that has just ended.
    """
    today = now.astimezone(ZoneInfo(zone)).date()
    ends = {
        Period.YESTERDAY: today + A_DAY,
        Period.LAST_WEEK: today + (7 - today.weekday()) * A_DAY,
        Period.LAST_MONTH: (today.replace(day=1) + 31 * A_DAY).replace(day=1),
    }
    return midnight(ends[period], zone)


def midnight(day: date, zone: str) -> datetime:
    """Return the time in UTC at which a day begins in *zone*."""
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def began() -> datetime | None:
    """Return the time of the first event, None if there is none."""
    return Event.objects.order_by("pk").values_list("at", flat=True).first()


def _days(period: Period, today: date) -> tuple[date, date | None]:
    """Return the first day of a period and the day after its last, None where it is not over."""
    monday = today - timedelta(days=today.weekday())
    month = today.replace(day=1)
    year = today.replace(month=1, day=1)
    days: dict[Period, tuple[date, date | None]] = {
        Period.TODAY: (today, None),
        Period.YESTERDAY: (today - A_DAY, today),
        Period.THIS_WEEK: (monday, None),
        Period.LAST_WEEK: (monday - 7 * A_DAY, monday),
        Period.THIS_MONTH: (month, None),
        Period.LAST_MONTH: ((month - A_DAY).replace(day=1), month),
        Period.THIS_YEAR: (year, None),
        Period.LAST_YEAR: (year.replace(year=year.year - 1), year),
    }
    if period not in days:
        raise ValueError(f"{period} contains no days")
    return days[period]
