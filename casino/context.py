"""What every page knows: which player reads it, if any, whether this is a demo, and the nonce its scripts carry."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from players.identity import player_of


def house(request: HttpRequest) -> dict[str, Any]:
    """Return ``player`` (None for visitors and staff), ``demo``, and ``csp_nonce`` as django-htmx asks for it."""
    return {
        "player": player_of(request.user),
        "demo": settings.DEMO,
        "csp_nonce": getattr(request, "csp_nonce", ""),
    }
