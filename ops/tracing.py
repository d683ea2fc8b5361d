"""One id for all that is done for one request: on every line of the log that it leads to, in the header of its answer,
and in the tasks that it asks workers for. A task that nobody's request led to begins an id of its own.
"""

import re
from collections.abc import Callable, MutableMapping
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

import structlog
from celery.signals import before_task_publish, task_postrun, task_prerun
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

from ops.logs import view_of

HEADER: Final = "X-Request-ID"
ID: Final = "request_id"  # on the lines of a log, and among the headers of a message for a worker
TAKEN: Final = re.compile(r"[0-9A-Za-z_-]{8,64}", re.ASCII)
PROBES: Final = {"health", "ready", "metrics"}  # asked for every few seconds; what goes well there is no news

logger = structlog.get_logger(__name__)


def trace(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Give each request an id, the proxy's own where the house trusts one, and write one line when it is answered."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        number = begin(request.headers.get(HEADER, ""))
        response = get_response(request)
        response[HEADER] = number
        view = view_of(request)
        milliseconds = round((perf_counter() - began) * 1000, 1)
        write = logger.debug if view in PROBES and response.status_code < 400 else logger.info
        write("request", method=request.method, view=view, status=response.status_code, ms=milliseconds)
        return response  # Django may have a word to say of it after this, with the same id

    return middleware


def begin(brought: str) -> str:
    """Begin the lines of a request; return its id: what the proxy in front *brought*, if one is trusted and that is an
    id.
    """
    number = brought if settings.TRUST_PROXY and TAKEN.fullmatch(brought) else uuid4().hex
    go_on(number)
    return number


def go_on(number: str) -> None:
    """Have all lines from here on bear this id."""
    clear_contextvars()
    bind_contextvars(**{ID: number})


@before_task_publish.connect
def hand_on(headers: MutableMapping[str, Any], **sent: object) -> None:
    """Have a task bear the id of what asks for it."""
    if number := get_contextvars().get(ID):
        headers[ID] = number


@task_prerun.connect
def take_up(task_id: str, task: Any, **sent: object) -> None:
    """Begin the lines of a task."""
    clear_contextvars()
    brought = getattr(task.request, ID, None) or (task.request.headers or {}).get(ID)
    bind_contextvars(**{ID: brought or task_id, "task": task.name})


@task_postrun.connect
def put_down(**sent: object) -> None:
    """End them: the thread works for others next."""
    clear_contextvars()
