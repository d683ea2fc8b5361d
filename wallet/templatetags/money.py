"""Template filters for amounts: ``{% load money %}{{ amount|money:currency }}``."""

from django import template
from django.utils.translation import get_language

from wallet.money import format_amount, format_money, format_signed_money

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
    return format_signed_money(minor, currency, get_language() or "en")
