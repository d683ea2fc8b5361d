"""Template filters for significant events: ``{% load significant %}{{ each|its_amount }}``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django import template

from audit.models import Significant
from wallet.money import format_money

if TYPE_CHECKING:  # the lists behind the links can only be loaded after all templates and filters
    from backoffice.significant import Subject, Subjects

register = template.Library()


@register.filter
def its_amount(found: Significant) -> str:
    """Return the amount of the event, "" if it has none."""
    return "" if found.amount is None else format_money(found.amount, found.currency, "en")


@register.filter
def named(who: str, names: Mapping[str, str]) -> str:
    """Return the name from *names*, or *who* if it is not there."""
    return names.get(who, who)


@register.filter
def called(name: str, subjects: "Subjects") -> "Subject":
    """Return the label and URL of the subject *name*."""
    return subjects.of(name)
