"""Significant events in templates: ``{% load significant %}{{ each|its_amount }}``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django import template

from audit.models import Significant
from wallet.money import format_money

if TYPE_CHECKING:  # the lists that they lead to need all templates, and these filters, to be loaded
    from backoffice.significant.subjects import Subject, Subjects

register = template.Library()


@register.filter
def its_amount(found: Significant) -> str:
    """Write the amount it is about, nothing where it is about none."""
    return "" if found.amount is None else format_money(found.amount, found.currency, "en")


@register.filter
def named(who: str, names: Mapping[str, str]) -> str:
    """Write who somebody is: their name where it is among *names*, else as events call them."""
    return names.get(who, who)


@register.filter
def called(name: str, subjects: "Subjects") -> "Subject":
    """Return what events call *name*, as staff read it, with the way to it."""
    return subjects.of(name)
