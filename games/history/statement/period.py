"""Periods of whole days in the player's time zone (GLI-19 v3.0, 2.5.7: a statement for any period)."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from django.db import connection

MONTHS = 12  # in a year


class Choice(StrEnum):
    """The named periods."""

    MONTH = "month"
    LAST_MONTH = "last_month"
    THREE_MONTHS = "three_months"
    YEAR = "year"
    TWELVE_MONTHS = "twelve_months"


@dataclass(frozen=True)
class Period:
    """From a day to a day, both included, in a time zone."""

    since: date
    until: date
    zone: ZoneInfo

    @property
    def begin(self) -> datetime:
        """The moment the first day begins."""
        return datetime.combine(self.since, time(), self.zone)

    @property
    def end(self) -> datetime:
        """The moment the last day is over."""
        return datetime.combine(self.until + timedelta(days=1), time(), self.zone)


def today_in(zone: ZoneInfo) -> date:
    """Return today's date in *zone* by the database clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (clock_timestamp() AT TIME ZONE %s)::date", [zone.key])
        (today,) = cursor.fetchone()
    return today


def chosen(choice: Choice, zone: ZoneInfo, today: date) -> Period:
    """Return the named period as seen on the day *today*."""
    first = today.replace(day=1)
    match choice:
        case Choice.MONTH:
            return Period(first, today, zone)
        case Choice.LAST_MONTH:
            return Period(months_before(first, 1), first - timedelta(days=1), zone)
        case Choice.THREE_MONTHS:
            return Period(months_before(today, 3), today, zone)
        case Choice.YEAR:
            return Period(today.replace(month=1, day=1), today, zone)
        case Choice.TWELVE_MONTHS:
            return Period(months_before(today, MONTHS), today, zone)


def months_before(day: date, months: int) -> date:
    """Return the same day *months* earlier, or the last day of a shorter month."""
    year, month = divmod(day.year * MONTHS + day.month - 1 - months, MONTHS)
    next_year, next_month = divmod(year * MONTHS + month + 1, MONTHS)
    last = (date(next_year, next_month + 1, 1) - timedelta(days=1)).day
    return date(year, month + 1, min(day.day, last))
