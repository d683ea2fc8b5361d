"""Codes of rounds in templates: ``{% load rounds %}{{ journal.round_id|round_code }}``."""

from uuid import UUID

from django import template

from games import codes

register = template.Library()


@register.filter
def round_code(name: UUID | str) -> str:
    """Return the code of a round, given its id or what the event log calls it (``round:<uuid>``); "" for all else."""
    try:
        return codes.round_code(UUID(str(name).removeprefix("round:")))
    except ValueError:
        return ""
