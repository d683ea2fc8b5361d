"""Structured logs: one JSON line per event, from any library. Secrets, seeds and cards are never
logged. E-mail addresses, tokens and paths that others may put into a message are removed.

Request IDs: one ID for everything done for a request, in every log line, in the response header,
and in the tasks it sends. A task that was not sent by a request gets an ID of its own.
"""

import json
import logging
import re
from collections.abc import Callable, MutableMapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from celery.signals import before_task_publish, task_postrun, task_prerun
from django.conf import settings

from ops import without

with without("rich"):  # colours for a terminal: 5 MB where tests have installed it
    import structlog
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from structlog.types import EventDict, WrappedLogger

if TYPE_CHECKING:  # beat writes logs too, without loading this
    from django.http import HttpRequest, HttpResponseBase

    GetResponse = Callable[[HttpRequest], HttpResponseBase]

# An e-mail address, or an API token. A worker's own name (celery@machine) is neither.
UNWRITTEN: Final = re.compile(r"(?!celery@)(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|sabot_[\w-]{16,}")
LEFT_OUT: Final = "[left out]"
HEADER: Final = "X-Request-ID"
IN_META: Final = "HTTP_X_REQUEST_ID"  # request.headers is a second copy of all headers
ID: Final = "request_id"  # key in log lines, and header of a task message
TAKEN: Final = re.compile(r"[0-9A-Za-z_-]{8,64}", re.ASCII)
PROBES: Final = {"health", "ready", "metrics"}  # called every few seconds; successes are logged at debug level

logger = structlog.get_logger(__name__)


def view_of(request: "HttpRequest") -> str:
    """Return the view name of a request, "" if there is none. The path is not used: it may contain secrets."""
    return request.resolver_match.view_name if request.resolver_match else ""


def name_views(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Replace the path at the end of Django's request messages by the view name."""
    request: Any = getattr(event.get("_record"), "request", None)
    if hasattr(request, "resolver_match") and event["event"].endswith(request.path):
        event["event"] = event["event"].removesuffix(request.path).rstrip(": ")
        event["view"] = view_of(request)
    return event


SHARED: list[structlog.types.Processor] = [
    structlog.contextvars.merge_contextvars,
    name_views,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
TICK: Final = "games.tasks.tick"
NOTHING: Final = "[]"  # its usual return value
_encode = json.JSONEncoder(default=repr).encode


def renderer(logger: WrappedLogger, name: str, event: EventDict) -> str:
    """Format an event as a JSON line without structlog's internal keys, and remove what must not be logged."""
    event.pop("_record", None)
    event.pop("_from_structlog", None)
    line = _encode(event)
    return UNWRITTEN.sub(LEFT_OUT, line) if "@" in line or "sabot_" in line else line


class LineFormatter(structlog.stdlib.ProcessorFormatter):
    """Formats records as lines. An event of structlog is complete (`configure`), so it is written without a copy of
    its record and a second round of processors, which take half of the time of a line.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        if isinstance(record.msg, dict) and hasattr(record, "_logger"):
            return renderer(None, record.levelname, record.msg.copy())
        return super().format(record)


class IdleTickFilter(logging.Filter):
    """Drops Celery's log lines about the tick task where it found nothing to do, which happens
    every second.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to keep a line."""
        match record.args:
            case {"name": name, **rest}:
                return name != TICK or rest.get("return_value", NOTHING) != NOTHING
            case (_, task):
                return task != TICK
        return True


def configure() -> None:
    """Route structlog's loggers to the standard library's, so that settings.LOGGING controls both."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.stdlib.add_logger_name,
            structlog.stdlib.add_log_level,
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.captureWarnings(True)
    # No line contains these, and finding them for each record takes a fifth of its time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    vars(logging)["_srcfile"] = None


def stay(**sent: object) -> None:
    """Receiver of Celery's `setup_logging` signal: any receiver stops Celery from configuring logs."""


def trace(get_response: "GetResponse") -> "GetResponse":
    """Give each request an ID (that of a trusted proxy, if any) and log a line when it is answered."""

    def middleware(request: "HttpRequest") -> "HttpResponseBase":
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
