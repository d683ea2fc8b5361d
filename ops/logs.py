"""Structured logs: one JSON line an event, from whatever library it comes. No secret, seed or card is ever bound to a
log; and what others might have put into a message, an address of mail, a token, the path of a page, is left out.
"""

import logging
import re
from typing import TYPE_CHECKING, Any, Final

import structlog
from structlog.types import EventDict, WrappedLogger

if TYPE_CHECKING:  # beat writes logs too, and does without this
    from django.http import HttpRequest

# An address of mail, and the key of a program. A worker's own name (celery@machine) is neither.
UNWRITTEN: Final = re.compile(r"(?!celery@)(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|sabot_[\w-]{16,}")
LEFT_OUT: Final = "[left out]"


def view_of(request: "HttpRequest") -> str:
    """Name the page or call that a request is for, "" where there is none: its path may hold what nobody is to read."""
    return request.resolver_match.view_name if request.resolver_match else ""


def name_views(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Name the view instead of the path with which Django ends what it says of a request."""
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
NOTHING: Final = "[]"  # what it finds nearly always
_json = structlog.processors.JSONRenderer()


def renderer(logger: WrappedLogger, name: str, event: EventDict) -> str:
    """Write an event as one JSON line without structlog's own bookkeeping, nor what is not to be written."""
    event.pop("_record", None)
    event.pop("_from_structlog", None)
    return UNWRITTEN.sub(LEFT_OUT, str(_json(logger, name, event)))


class News(logging.Filter):
    """Lets those lines of Celery's pass that say anything: that the house asks every second whether a table is due, and
    that none was, does not.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a line says anything."""
        match record.args:
            case {"name": name, **rest}:
                return name != TICK or rest.get("return_value", NOTHING) != NOTHING
            case (_, task):
                return task != TICK
        return True


def configure() -> None:
    """Let structlog's loggers end in the standard library's, so that settings.LOGGING governs both."""
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


def stay(**sent: object) -> None:
    """Be what Celery asks before it sets up logs of its own, and then does not."""
