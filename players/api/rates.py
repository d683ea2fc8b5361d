"""Rate limits of API calls, counted per minute in the cache. Without the cache, calls are not limited."""

import time
from typing import Final

import structlog
from django.core.cache import cache
from rest_framework.exceptions import Throttled

from players.models import ApiToken

MINUTE: Final = 60  # seconds
STRANGERS: Final = 60  # calls a minute from one IP address with invalid tokens

logger = structlog.get_logger(__name__)


def demand_pace(token: ApiToken) -> None:
    """Count a call, successful or not. Raises Throttled above the token's limit per minute.

    All tokens of one user share the count.
    """
    _demand(f"programs:{token.user_id}", token.per_minute)


def demand_pace_of_stranger(ip: str) -> None:
    """Count a call with an invalid token. Raises Throttled above `STRANGERS` a minute from one IP address."""
    _demand(f"stranger:{ip}", STRANGERS)


def demand_pace_of_partner(partner: str, most: int) -> None:
    """Count a signed call of a partner. Raises Throttled above *most* a minute."""
    _demand(partner, most)


def _demand(who: str, most: int) -> None:
    if _counted(who) > most:
        raise Throttled(MINUTE - time.time() % MINUTE)


def _counted(who: str) -> int:
    """Count a call and return the count of this minute, or 0 if the cache fails."""
    key = f"api:{who}:{int(time.time()) // MINUTE}"
    try:
        return 1 if cache.add(key, 1, timeout=2 * MINUTE) else int(cache.incr(key))
    except Exception as error:  # noqa: BLE001  (any cache error: missing rate limits must not stop play)
        logger.warning("api_rate_uncounted", error=type(error).__name__)
        return 0
