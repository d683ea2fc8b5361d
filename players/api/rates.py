"""How often a program may call: a count for each minute, in the cache. Where the cache is away, play goes on."""

import time
from typing import Final

import structlog
from django.core.cache import cache
from rest_framework.exceptions import Throttled

from players.models import ApiToken

MINUTE: Final = 60  # seconds
STRANGERS: Final = 60  # calls a minute from one address with tokens that do not hold

logger = structlog.get_logger(__name__)


def demand_pace(token: ApiToken) -> None:
    """Count a call by a program of whoever the token is of, whatever becomes of it. Raises Throttled above as many a
    minute as the token says.
    """
    _demand(f"programs:{token.user_id}", token.per_minute)


def demand_pace_of_stranger(ip: str) -> None:
    """Count a call with a token that does not hold. Raises Throttled above `STRANGERS` a minute from one address."""
    _demand(f"stranger:{ip}", STRANGERS)


def demand_pace_of_partner(partner: str, most: int) -> None:
    """Count a call that another house has signed. Raises Throttled above *most* a minute."""
    _demand(partner, most)


def _demand(who: str, most: int) -> None:
    if _counted(who) > most:
        raise Throttled(MINUTE - time.time() % MINUTE)


def _counted(who: str) -> int:
    """Count a call of somebody's; return how many there have been within this minute, 0 where nobody can count."""
    key = f"api:{who}:{int(time.time()) // MINUTE}"
    try:
        return 1 if cache.add(key, 1, timeout=2 * MINUTE) else int(cache.incr(key))
    except Exception as error:  # noqa: BLE001  (whatever a cache raises: counting is no reason to stand still)
        logger.warning("api_rate_uncounted", error=type(error).__name__)
        return 0
