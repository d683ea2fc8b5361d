"""Request IDs: one ID for everything done for a request, in every log line, in the response header,
and in the tasks it sends. A task that was not sent by a request gets an ID of its own.
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
IN_META: Final = "HTTP_X_REQUEST_ID"  # request.headers is a second copy of all headers
ID: Final = "request_id"  # key in log lines, and header of a task message
TAKEN: Final = re.compile(r"[0-9A-Za-z_-]{8,64}", re.ASCII)
PROBES: Final = {"health", "ready", "metrics"}  # called every few seconds; successes are logged at debug level

logger = structlog.get_logger(__name__)


def trace(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Give each request an ID (that of a trusted proxy, if any) and log a line when it is answered."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        began = perf_counter()
        number = begin(request.META.get(IN_META, ""))
        response = get_response(request)
        response[HEADER] = number
        view = view_of(request)
        milliseconds = round((perf_counter() - began) * 1000, 1)
        write = logger.debug if view in PROBES and response.status_code < 400 else logger.info
        write("request", method=request.method, view=view, status=response.status_code, ms=milliseconds)
        return response  # Django may log more about it afterwards, with the same ID

    return middleware


def begin(brought: str) -> str:
    """Start the log context of a request and return its ID: *brought* from the proxy in front, if
    one is trusted and it is a valid ID, otherwise a new one.
    """
    number = brought if settings.TRUST_PROXY and TAKEN.fullmatch(brought) else uuid4().hex
    go_on(number)
    return number


def go_on(number: str) -> None:
    """Set this ID for all following log lines."""
    clear_contextvars()
    bind_contextvars(**{ID: number})


@before_task_publish.connect
def hand_on(headers: MutableMapping[str, Any], **sent: object) -> None:
    """Pass the current ID on to a task."""
    if number := get_contextvars().get(ID):
        headers[ID] = number


@task_prerun.connect
def take_up(task_id: str, task: Any, **sent: object) -> None:
    """Start the log context of a task."""
    clear_contextvars()
    brought = getattr(task.request, ID, None) or (task.request.headers or {}).get(ID)
    bind_contextvars(**{ID: brought or task_id, "task": task.name})


@task_postrun.connect
def put_down(**sent: object) -> None:
    """Clear the log context: the thread is reused."""
    clear_contextvars()
