"""Amounts in templates: ``{% load money %}{{ amount|money:currency }}``."""

from django import template
from django.utils.translation import get_language

from wallet.money import MINUS, format_amount, format_money

register = template.Library()


@register.filter
def money(minor: int, currency: str) -> str:
    """Write an amount of *minor* units in the reader's language."""
    return format_money(minor, currency, get_language() or "en")


@register.filter
def amount(minor: int, currency: str) -> str:
    """Write a limit: like money, but without decimals where it is whole units."""
    return format_amount(minor, currency, get_language() or "en")


@register.filter
def signed_money(minor: int, currency: str) -> str:
    """Write an amount that came in with a plus, one that went out with a minus."""
    if minor == 0:
        return money(minor, currency)
    return f"{'+' if minor > 0 else MINUS}{money(abs(minor), currency)}"
