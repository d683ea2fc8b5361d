"""Broker connection with short timeouts, for health checks: each answer may take a second."""

from typing import Final

from django.conf import settings
from kombu import Connection

SECONDS: Final = 1.0  # timeout of each answer


def quick_line() -> Connection:
    """Return a connection that gives up soon; operations then raise kombu's OperationalError or OSError."""
    limits = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS, "max_retries": 1, "interval_start": 0}
    return Connection(settings.CELERY_BROKER_URL, transport_options=limits, connect_timeout=SECONDS)
