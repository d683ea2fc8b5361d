"""How often one player, or one visitor's address, may do what costs the house something: faster than any hand clicks,
and no faster.
"""

import time
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec, TypeVar

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from redis.exceptions import RedisError

from players.login.current_user import player_of

Args = ParamSpec("Args")
Request = TypeVar("Request", bound=HttpRequest)
View = Callable[Concatenate[Request, Args], HttpResponseBase]

SECONDS = 2
MINUTE = 60
HOUR = 3600
STARTS = 30  # a minute: what a guest begins anew
FIRST = 20  # refusals of one kind and somebody that go on record each, in an hour
THEN = frozenset(10**power for power in range(2, 10))  # and which of the others say how many they were


def at_a_human_pace(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than ``settings.FORMS_PER_SECOND`` forms a second, over two seconds."""
    return _paced(view, "pace", SECONDS, lambda: SECONDS * settings.FORMS_PER_SECOND)


def now_and_then(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than `STARTS` forms within a minute."""
    return _paced(view, "starts", MINUTE, lambda: STARTS)


def _paced(view: View[Request, Args], name: str, seconds: int, most: Callable[[], int]) -> View[Request, Args]:
    @wraps(view)
    def paced(request: Request, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        if _count(f"{name}:{_who(request)}", seconds) > most():
            refusal = render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)
            refusal["Retry-After"] = str(seconds - int(time.time()) % seconds)
            return refusal
        return view(request, *args, **kwargs)

    return paced


def to_record(what: str, who: str) -> int:
    """Count a refusal that anybody may bring about, and return which one it is of this hour where it goes on record:
    the first `FIRST`, and then as they grow tenfold; 0 for all others. So nobody fills the log at will, and it says how
    many it left out. While nobody can count, all are recorded.
    """
    try:
        count = _count(f"refused:{what}:{who}", HOUR)
    except RedisError:
        return 1
    return count if count <= FIRST or count in THEN else 0


def address_of(request: HttpRequest) -> str:
    """Return from where a visitor comes: an address, or the network that one customer has of IPv6 (/64), in which they
    may take as many addresses as they like.
    """
    return get_ip(request)


def _count(name: str, seconds: int) -> int:
    """Count once more in this interval and return how often that was."""
    key = f"{name}:{int(time.time()) // seconds}"
    return 1 if cache.add(key, 1, timeout=2 * seconds) else cache.incr(key)


def _who(request: HttpRequest) -> str:
    """Return a player's number, or the address a visitor comes from."""
    player = player_of(request.user)
    return str(player.pk) if player else address_of(request)
