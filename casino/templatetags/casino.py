"""Template tags and filters of every page: dates and times, names of staff and roles, URLs in all languages.

``{% load casino %}{{ round.at|day }} {{ round.at|clock }} {{ reason|asked_by:staff_names }}``, and
``{% alternates as links %}`` in the head.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from django import template
from django.conf import settings
from django.template import Context
from django.urls import reverse
from django.utils.text import get_text_list
from django.utils.translation import get_language, gettext

import ops.program
from players.datetime_format import written_day, written_time
from players.staff import role_name, roles_with

register = template.Library()

# Public pages that search engines may index. Other pages belong to a user, or are forms.
PUBLIC: Final = frozenset({"lobby", "fair", "terms", "help", "rules"})


@register.filter
def day(value: date) -> str:
    """Format a date, or the date of a time, in the reader's language."""
    return written_day(value, get_language() or "en")


@register.filter
def clock(value: datetime) -> str:
    """Format the time of day with seconds, in the reader's language."""
    return written_time(value, get_language() or "en")


@register.filter
def asked_by(reason: str, names: Mapping[str, str]) -> str:
    """Replace the account at the beginning of a reason, as in "staff:2: A card was wrong.", by its name."""
    who, colon, why = reason.partition(": ")
    return f"{names[who]}{colon}{why}" if who in names else reason


@register.filter
def in_role(permission: str) -> str:
    """Return the roles that have a permission, in the reader's language: "compliance or supervisor"."""
    return get_text_list([role_name(role) for role in roles_with(permission)], gettext("or"))


@register.simple_tag
def program() -> str:
    """Return name and version of the program."""
    return ops.program.name()


@register.simple_tag(takes_context=True)
def alternates(context: Context) -> list[dict[str, str]]:
    """Return the URL of a public page in each language, including the current one; nothing for other pages.

    No other language is activated, which would load its texts and addresses.
    """
    request: Any = context.get("request")
    if request is None or request.resolver_match is None or request.resolver_match.view_name not in PUBLIC:
        return []
    match = request.resolver_match
    _start, _language, rest = reverse(match.view_name, args=match.args, kwargs=match.kwargs).split("/", 2)
    return [
        {"language": code, "address": request.build_absolute_uri(f"/{code}/{rest}")}
        for code, _name in settings.LANGUAGES
    ]
