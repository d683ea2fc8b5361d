"""How staff and their roles are called: ``{% load called %}{{ reason|asked_by:staff_names }}``."""

from collections.abc import Mapping

from django import template

from players.staff import roles_with

register = template.Library()


@register.filter
def asked_by(reason: str, names: Mapping[str, str]) -> str:
    """Write a reason that begins with the account that asked, as "staff:2: A card was wrong.", with their name."""
    who, colon, why = reason.partition(": ")
    return f"{names[who]}{colon}{why}" if who in names else reason


@register.filter
def in_role(permission: str) -> str:
    """Write which roles have a permission: "compliance or supervisor"."""
    return " or ".join(roles_with(permission))
