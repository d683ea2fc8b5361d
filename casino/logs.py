"""Structured logs: one JSON line an event in production, readable lines in the demo. No secret, seed or card is ever
bound to a log.
"""

import logging
from typing import Final

import structlog
from structlog.types import EventDict, WrappedLogger

SHARED: list[structlog.types.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
TICK: Final = "games.tasks.tick"
NOTHING: Final = "[]"  # what it finds nearly always
_json = structlog.processors.JSONRenderer()


def renderer(logger: WrappedLogger, name: str, event: EventDict) -> str | bytes:
    """Write an event as one JSON line without structlog's own bookkeeping."""
    event.pop("_record", None)
    event.pop("_from_structlog", None)
    return _json(logger, name, event)


def is_news(record: logging.LogRecord) -> bool:
    """Say whether a line of Celery's says anything: that the house asks every second whether a table is due, and that
    none was, does not.
    """
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
