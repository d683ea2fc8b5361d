"""Template filters for pages of games and versions, in English: ``{% load versions %}``."""

from datetime import UTC, datetime
from fractions import Fraction

from django import template

from games.engine.odds import percent
from wallet.money import format_money

register = template.Library()


@register.filter
def percentage(share: Fraction) -> str:
    """Format a share of one in percent with four places."""
    return f"{percent(share, 4)} %"


@register.filter
def amount(minor: int, currency: str) -> str:
    """Format minor units of a currency."""
    return format_money(minor, currency, "en")


@register.filter
def moment(text: str) -> str:
    """Format a time of the event log for people."""
    return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
