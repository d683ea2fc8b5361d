"""Template filters for amounts: ``{% load money %}{{ amount|money:currency }}``."""

from django import template
from django.utils.translation import get_language

from wallet.money import MINUS, format_amount, format_money

register = template.Library()


@register.filter
def money(minor: int, currency: str) -> str:
    """Format *minor* units in the reader's language."""
    return format_money(minor, currency, get_language() or "en")


@register.filter
def amount(minor: int, currency: str) -> str:
    """Format a limit: as `money`, but whole units have no decimals."""
    return format_amount(minor, currency, get_language() or "en")


@register.filter
def signed_money(minor: int, currency: str) -> str:
    """Format an amount with its sign: plus for money in, minus for money out."""
    if minor == 0:
        return money(minor, currency)
    return f"{'+' if minor > 0 else MINUS}{money(abs(minor), currency)}"
