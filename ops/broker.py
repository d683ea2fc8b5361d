"""A line to the broker for whoever only wants to know how it is: each answer may take a second, then there is none."""

from typing import Final

from django.conf import settings
from kombu import Connection

SECONDS: Final = 1.0  # that the broker may take for each answer


def quick_line() -> Connection:
    """Return a line that gives up soon. Whatever is asked over it raises kombu's OperationalError or OSError then."""
    limits = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS, "max_retries": 1, "interval_start": 0}
    return Connection(settings.CELERY_BROKER_URL, transport_options=limits, connect_timeout=SECONDS)
