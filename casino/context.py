"""What every page knows: which player reads it, if any, and with what balance; whether this is a demo; how to reach the
house; and the nonce its scripts carry.
"""

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
    """Return ``reader``, the player who reads the page (None for visitors and staff), ``demo``, ``support_email``,
    ``csp_nonce`` as django-htmx asks for it, and ``real_balance``, ``staff_names`` and ``banner``, what everybody is
    shown, which cost their queries only where they are read.

    A page may be about a ``player``, who is somebody else.
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
