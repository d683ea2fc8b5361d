"""Context processor: variables that every template can use."""

from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts import banner
from players import staff
from players.login.current_user import player_of
from wallet.models import Mode
from wallet.operator_wallet.operators import funds


def house(request: HttpRequest) -> dict[str, Any]:
    """Return the variables of every page: ``reader``, the player who reads it (None for visitors
    and staff); ``demo``; ``support_email``; ``csp_nonce``, as django-htmx expects it; and
    ``real_balance``, ``staff_names`` and ``banner`` (shown to everybody), which are queried only if
    used.

    A page may be about a ``player`` other than the reader.
    """
    player = player_of(request.user)
    return {
        "reader": player,
        "real_balance": partial(funds, player, Mode.REAL) if player else None,
        "staff_names": SimpleLazyObject(staff.called),
        "banner": banner.on_this_page,
        "demo": settings.DEMO,
        "support_email": settings.SUPPORT_EMAIL,
        "csp_nonce": getattr(request, "csp_nonce", ""),
    }
