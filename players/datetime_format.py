"""Dates and times formatted for a language, from CLDR, and the date field of forms.

Django's own formats capitalise Romanian and Swedish months. The field excludes the first and last
dates of Python's range: in another time zone they would be outside it, and no date comes before or
after them.
"""

from datetime import date, datetime, time
from functools import cache, lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_skeleton, format_time
from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.timezone import localtime
from django.utils.translation import get_language
from django.utils.translation import gettext as _

# English texts use British format: 21 November 2026, 14:05:09. CLDR's "en" is American.
_LOCALES: Final = {"en": "en_GB"}


def written_day(value: date, language: str) -> str:
    """Format a date, or the date of a time: "21 noiembrie 2026"."""
    return _day(localtime(value).date() if isinstance(value, datetime) else value, language)


@lru_cache(maxsize=1024)
def _day(value: date, language: str) -> str:
    return format_date(value, "long", locale=_LOCALES.get(language, language))


def written_short_day(value: date, language: str) -> str:
    """Format day and month, as on the axis of a chart: "21 Nov", "21. Nov."."""
    return format_skeleton("MMMd", value, locale=_LOCALES.get(language, language))


def written_time(value: datetime, language: str) -> str:
    """Format the time of day with seconds: "14:05:09", in Danish "14.05.09"."""
    return f"{localtime(value):{_clock(language)}}"


@cache
def _clock(language: str) -> str:
    """Return the format of times of day, read off one that CLDR's rules have formatted. Babel takes twenty times as
    long as this format.
    """
    sample = format_time(time(1, 45, 56), "medium", locale=_LOCALES.get(language, language))
    return sample.replace("01", "%H").replace("45", "%M").replace("56", "%S")


def written_moment(value: datetime, language: str, zone: str) -> str:
    """Format date and time to the minute in the time zone *zone*: "21 November 2026, 14:05"."""
    there, name = value.astimezone(ZoneInfo(zone)), _LOCALES.get(language, language)
    return f"{format_date(there, 'long', locale=name)}, {format_time(there, 'short', locale=name)}"


def written_span(begins: datetime, ends: datetime, language: str) -> str:
    """Format a period in the time zone of its two ends: "21 November 2026, 14:05–15:30 CET".

    If the period ends on another date, the date of the end is included.
    """
    name = _LOCALES.get(language, language)
    day, first, last = (
        format_date(begins, "long", locale=name),
        format_time(begins, "short", locale=name),
        format_time(ends, "short", locale=name),
    )
    if begins.date() == ends.date() and begins.tzname() == ends.tzname():
        return f"{day}, {first}–{last} {ends.tzname()}"
    return f"{day}, {first} {begins.tzname()} – {format_date(ends, 'long', locale=name)}, {last} {ends.tzname()}"


def written_until(value: datetime | None, zone: str) -> str:
    """Format the end of a period in the active language: "until 21 November 2026, 14:05".

    None means "until further notice".
    """
    if value is None:
        return _("until further notice")
    return _("until %(when)s") % {"when": written_moment(value, get_language() or "en", zone)}


FIRST: Final = date(2000, 1, 1)
LAST: Final = date(2999, 12, 31)


class Day(forms.DateField):
    """A date in the format that browsers send."""

    def __init__(self, label: Any, *, required: bool = False) -> None:
        super().__init__(
            label=label,
            required=required,
            input_formats=["%Y-%m-%d"],
            widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
            validators=[MinValueValidator(FIRST), MaxValueValidator(LAST)],
        )
