"""Shares, amounts and moments on pages of games and their versions, in English: ``{% load versions %}``."""

from datetime import UTC, datetime
from fractions import Fraction

from django import template

from games.engine.odds import percent
from wallet.money import format_money

register = template.Library()


@register.filter
def percentage(share: Fraction) -> str:
    """Write a share of one in percent with four places."""
    return f"{percent(share, 4)} %"


@register.filter
def amount(minor: int, currency: str) -> str:
    """Write minor units of a currency."""
    return format_money(minor, currency, "en")


@register.filter
def moment(text: str) -> str:
    """Write a moment of the event log as people read it."""
    return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
