"""Days and times as the reader's language writes them, from CLDR: Django's Romanian and Swedish capitalise months."""

from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_time
from django.utils.timezone import localtime
from django.utils.translation import get_language
from django.utils.translation import gettext as _

# The English of the house is British: 21 November 2026, 14:05:09. CLDR's own "en" is American.
_LOCALES: Final = {"en": "en_GB"}


def written_day(value: date, language: str) -> str:
    """Write a date, or the day of a time: "21 noiembrie 2026"."""
    moment = localtime(value) if isinstance(value, datetime) else value
    return format_date(moment, "long", locale=_LOCALES.get(language, language))


def written_time(value: datetime, language: str) -> str:
    """Write the time of day with seconds: "14:05:09", in Danish "14.05.09"."""
    return format_time(localtime(value), "medium", locale=_LOCALES.get(language, language))


def written_moment(value: datetime, language: str, zone: str) -> str:
    """Write day and time to the minute where *zone* is: "21 November 2026, 14:05"."""
    there, name = value.astimezone(ZoneInfo(zone)), _LOCALES.get(language, language)
    return f"{format_date(there, 'long', locale=name)}, {format_time(there, 'short', locale=name)}"


def written_span(begins: datetime, ends: datetime, language: str) -> str:
    """Write from when to when, in the time zone that both are in: "21 November 2026, 14:05–15:30 CET"; with the day of
    the end where that is another one.
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
    """Write in the active language until when something holds: "until 21 November 2026, 14:05"; None is for as long as
    nobody ends it.
    """
    if value is None:
        return _("until further notice")
    return _("until %(when)s") % {"when": written_moment(value, get_language() or "en", zone)}
