"""Template filters for names of staff and roles: ``{% load called %}{{ reason|asked_by:staff_names }}``."""

from collections.abc import Mapping

from django import template

from players.staff import roles_with

register = template.Library()


@register.filter
def asked_by(reason: str, names: Mapping[str, str]) -> str:
    """Replace the account at the beginning of a reason, as in "staff:2: A card was wrong.", by its name."""
    who, colon, why = reason.partition(": ")
    return f"{names[who]}{colon}{why}" if who in names else reason


@register.filter
def in_role(permission: str) -> str:
    """Return the roles that have a permission: "compliance or supervisor"."""
    return " or ".join(roles_with(permission))
