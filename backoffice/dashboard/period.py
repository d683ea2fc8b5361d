"""Period of the dashboard in the operator's time zone, its comparison, and chart steps."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from audit.hours import HOUR
from audit.reports.kinds import A_DAY, Interval, midnight
from players.datetime_format import Day

MOST_DAYS: Final = 366
DAILY: Final = 31  # longest period with one chart point per day; longer periods have one per week


class Chosen(StrEnum):
    """Choice of a period."""

    TODAY = "today"
    YESTERDAY = "yesterday"
    THIS_WEEK = "this_week"
    THIS_MONTH = "this_month"
    LAST_30_DAYS = "last_30_days"
    OWN = "own"


NAMES: Final = {
    Chosen.TODAY: gettext_lazy("Today"),
    Chosen.YESTERDAY: gettext_lazy("Yesterday"),
    Chosen.THIS_WEEK: gettext_lazy("This week"),
    Chosen.THIS_MONTH: gettext_lazy("This month"),
    Chosen.LAST_30_DAYS: gettext_lazy("Last 30 days"),
    Chosen.OWN: gettext_lazy("From … to …"),
}


@dataclass(frozen=True)
class Span:
    """Whole days from *first* to *last*, up to now, and the period they are compared with.

    The intervals are empty if the day has just begun.
    """

    first: date
    last: date
    interval: Interval
    first_before: date
    last_before: date
    before: Interval
    before_label: str
    zone: str

    @property
    def is_empty(self) -> bool:
        """True if no time of the period has passed yet."""
        return self.interval.since >= self.interval.until

    @property
    def step(self) -> str:
        """Length of one chart step."""
        days = (self.last - self.first).days + 1
        return "hour" if days == 1 else "day" if days <= DAILY else "week"

    def bounds(self) -> list[datetime]:
        """Return the bounds of the chart steps, ascending."""
        return self._bounds(self.interval, self.first)

    def bounds_before(self) -> list[datetime]:
        """Return the bounds of the same steps of the period before. A single one if it is empty."""
        return self._bounds(self.before, self.first_before)

    def _bounds(self, interval: Interval, first: date) -> list[datetime]:
        since, until = interval.since, interval.until
        found, day = [since], first
        while found[-1] < until:
            if self.step == "hour":
                following = found[-1] + HOUR
            else:
                day += A_DAY * (1 if self.step == "day" else 7)
                following = midnight(day, self.zone)
            found.append(min(following, until))
        return found

    def by_day(self, bounds: Sequence[datetime]) -> tuple[list[datetime], list[int]]:
        """Return *bounds* with each midnight between them, and which of the steps each part belongs to."""
        midnights, day = [], bounds[0].astimezone(ZoneInfo(self.zone)).date()
        while (begins := midnight(day := day + A_DAY, self.zone)) < bounds[-1]:
            midnights.append(begins)
        parts = sorted({*bounds, *midnights})
        return parts, [bisect_right(bounds, begins) - 1 for begins in parts[:-1]]

    def label(self, begins: datetime) -> str:
        """Return the label of the chart step that begins at *begins*."""
        there = begins.astimezone(ZoneInfo(self.zone))
        return f"{there:%H:%M}" if self.step == "hour" else f"{there:%Y-%m-%d}"


class PeriodForm(forms.Form):
    """Form for the period. The default is today."""

    period = forms.TypedChoiceField(
        label=gettext_lazy("Period"),
        required=False,
        choices=[(str(each), name) for each, name in NAMES.items()],
        coerce=Chosen,
        empty_value=Chosen.TODAY,
        initial=str(Chosen.TODAY),
    )
    since = Day(gettext_lazy("From"))
    until = Day(gettext_lazy("To (inclusive)"))

    def __init__(self, data: Any, *, now: datetime) -> None:
        super().__init__(data)
        self._today = now.astimezone(ZoneInfo(settings.OPERATOR_TIME_ZONE)).date()

    def clean(self) -> dict[str, Any]:
        """Validate the first and last day of an own period."""
        given: dict[str, Any] = self.cleaned_data
        if given.get("period") is not Chosen.OWN:
            return given
        for name in ("since", "until"):
            if name not in self.errors and not given.get(name):
                self.add_error(name, gettext("Enter a date: %(field)s.") % {"field": self.fields[name].label})
        since, until = given.get("since"), given.get("until")
        if since and until:
            if since > until:
                self.add_error("until", gettext("The end date is before the start date."))
            elif since > self._today:
                self.add_error("since", gettext("This date is in the future."))
            elif (until - since).days >= MOST_DAYS:
                self.add_error(
                    "until",
                    gettext("The period is longer than %(days)s days. Request a report for longer periods.")
                    % {"days": MOST_DAYS},
                )
        return given

    def span(self, now: datetime) -> Span:
        """Return the span that the form asks for at *now*. An invalid form yields today."""
        asked: dict[str, Any] = self.cleaned_data if self.is_valid() else {}
        chosen = asked.get("period") or Chosen.TODAY
        if chosen is Chosen.OWN:
            return _own(asked["since"], min(asked["until"], self._today), now)
        return _named(chosen, self._today, now)


def _named(chosen: Chosen, today: date, now: datetime) -> Span:
    month = today.replace(day=1)
    monday = today - timedelta(days=today.weekday())
    yesterday = today - A_DAY
    first, last, first_before, label = {
        Chosen.TODAY: (today, today, yesterday, gettext("yesterday up to the same time")),
        Chosen.YESTERDAY: (yesterday, yesterday, yesterday - A_DAY, gettext("the day before")),
        Chosen.THIS_WEEK: (monday, today, monday - 7 * A_DAY, gettext("last week up to the same time")),
        Chosen.THIS_MONTH: (month, today, (month - A_DAY).replace(day=1), gettext("last month up to the same time")),
        Chosen.LAST_30_DAYS: (today - 29 * A_DAY, today, today - 59 * A_DAY, gettext("the previous 30 days")),
    }[chosen]
    return _span(first, last, first_before, label, now)


def _own(first: date, last: date, now: datetime) -> Span:
    days = (last - first).days + 1
    label = gettext("the day before") if days == 1 else gettext("the %(days)s days before") % {"days": days}
    return _span(first, last, first - days * A_DAY, label, now)


def _span(first: date, last: date, first_before: date, label: str, now: datetime) -> Span:
    """Return a span that ends at the current minute, so that a report can cover it exactly."""
    zone = settings.OPERATOR_TIME_ZONE
    minute = now.replace(second=0, microsecond=0)
    since, end = midnight(first, zone), midnight(last + A_DAY, zone)
    until = max(since, min(end, minute))
    since_before = midnight(first_before, zone)
    is_whole = until == end and (first - first_before).days == (last - first).days + 1
    until_before = since if is_whole else min(since_before + (until - since), since)
    return Span(
        first=first,
        last=last,
        interval=Interval(since, until),
        first_before=first_before,
        last_before=min(first_before + (last - first), first - A_DAY),
        before=Interval(since_before, until_before),
        before_label=label,
        zone=zone,
    )
