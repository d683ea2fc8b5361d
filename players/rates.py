"""How often one player, or one visitor's address, may do what costs the house something: faster than any hand clicks,
and no faster.
"""

import time
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec, TypeVar

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from players.identity import player_of

Args = ParamSpec("Args")
Request = TypeVar("Request", bound=HttpRequest)
View = Callable[Concatenate[Request, Args], HttpResponseBase]

SECONDS = 2
MINUTE = 60
STARTS = 30  # a minute: what a guest begins anew


def at_a_human_pace(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than ``settings.FORMS_PER_SECOND`` forms a second, over two seconds."""
    return _paced(view, "pace", SECONDS, lambda: SECONDS * settings.FORMS_PER_SECOND)


def now_and_then(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than `STARTS` forms within a minute."""
    return _paced(view, "starts", MINUTE, lambda: STARTS)


def _paced(view: View[Request, Args], name: str, seconds: int, most: Callable[[], int]) -> View[Request, Args]:
    @wraps(view)
    def paced(request: Request, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        now = int(time.time())
        key = f"{name}:{_who(request)}:{now // seconds}"
        count = 1 if cache.add(key, 1, timeout=2 * seconds) else cache.incr(key)
        if count > most():
            refusal = render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)
            refusal["Retry-After"] = str(seconds - now % seconds)
            return refusal
        return view(request, *args, **kwargs)

    return paced


def _who(request: HttpRequest) -> str:
    """Return a player's number, or the address a visitor comes from."""
    player = player_of(request.user)
    return str(player.pk) if player else str(get_adapter().get_client_ip(request))
