"""Structured logs: one JSON line per event, from any library. Secrets, seeds and cards are never
logged. E-mail addresses, tokens and paths that others may put into a message are removed.
"""

import json
import logging
import re
from typing import TYPE_CHECKING, Any, Final

import structlog
from structlog.types import EventDict, WrappedLogger

if TYPE_CHECKING:  # beat writes logs too, without loading this
    from django.http import HttpRequest

# An e-mail address, or an API token. A worker's own name (celery@machine) is neither.
UNWRITTEN: Final = re.compile(r"(?!celery@)(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|sabot_[\w-]{16,}")
LEFT_OUT: Final = "[left out]"


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
