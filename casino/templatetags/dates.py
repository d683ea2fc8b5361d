"""Dates as the reader's language writes them, from CLDR: Django's own Romanian and Swedish forms capitalise months."""

from datetime import date, datetime

from babel.dates import format_date
from django import template
from django.utils.timezone import localtime
from django.utils.translation import get_language

register = template.Library()


@register.filter
def day(value: date) -> str:
    """Write a date, or the day of a time: "21 noiembrie 2026"."""
    moment = localtime(value) if isinstance(value, datetime) else value
    return format_date(moment, format="long", locale=get_language() or "en")
