"""Template filters for dates and times: ``{{ round.at|day }} {{ round.at|clock }}``."""

from datetime import date, datetime

from django import template
from django.utils.translation import get_language

from players.datetime_format import written_day, written_time

register = template.Library()


@register.filter
def day(value: date) -> str:
    """Format a date, or the date of a time, in the reader's language."""
    return written_day(value, get_language() or "en")


@register.filter
def clock(value: datetime) -> str:
    """Format the time of day with seconds, in the reader's language."""
    return written_time(value, get_language() or "en")
