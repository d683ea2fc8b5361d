"""How often one player may do what leaves a trace for ever: faster than any hand clicks, and no faster."""

import time
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec

from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import render

from players.access import PlayerRequest

Args = ParamSpec("Args")
View = Callable[Concatenate[PlayerRequest, Args], HttpResponse]

SECONDS = 2


def at_a_human_pace(view: View[Args]) -> View[Args]:
    """Answer 429 where a player sends more than ``settings.FORMS_PER_SECOND`` forms a second, over two seconds."""

    @wraps(view)
    def paced(request: PlayerRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponse:
        key = f"pace:{request.player.pk}:{int(time.time()) // SECONDS}"
        cache.add(key, 0, timeout=2 * SECONDS)
        if cache.incr(key) > SECONDS * settings.FORMS_PER_SECOND:
            return render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)
        return view(request, *args, **kwargs)

    return paced
