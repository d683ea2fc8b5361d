"""Significant events in templates: ``{% load significant %}{{ each|its_amount }}``."""

from collections.abc import Mapping

from django import template

from audit.models import Significant
from wallet.money import format_money

register = template.Library()


@register.filter
def its_amount(found: Significant) -> str:
    """Write the amount it is about, nothing where it is about none."""
    return "" if found.amount is None else format_money(found.amount, found.currency, "en")


@register.filter
def named(who: str, names: Mapping[str, str]) -> str:
    """Write who somebody is: their name where it is among *names*, else as events call them."""
    return names.get(who, who)
