"""Readiness of this web process for requests, for load balancers.

A problem that other processes would have as well does not make this one unready: without the broker
every process serves what it can and reports that it is *degraded*.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pkgutil import iter_modules
from time import monotonic
from typing import Final

from django.apps import apps
from django.conf import settings
from django.db import Error, ProgrammingError, connection
from kombu import Connection
from kombu.exceptions import OperationalError

from audit import replica

SECONDS: Final = 1.0  # timeout of each answer


def quick_line() -> Connection:
    """Return a connection that gives up soon; operations then raise kombu's OperationalError or OSError."""
    limits = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS, "max_retries": 1, "interval_start": 0}
    return Connection(settings.CELERY_BROKER_URL, transport_options=limits, connect_timeout=SECONDS)


REMEMBERED: Final = 1.0  # seconds for which a result is reused

STOPPING: Final = "the process is shutting down"
NO_DATABASE: Final = "the database does not answer"
OLDER_TABLES: Final = "migrations are missing: run manage.py migrate"
NO_BROKER: Final = "the broker does not answer"
NO_REPLICA: Final = "the replica does not answer"
BEHIND: Final = "the replica is behind"


@dataclass(frozen=True)
class Readiness:
    """Reasons not to send requests (*faults*), and what is unavailable while they can be served (*degraded*)."""

    faults: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Format for `/readyz`: a status word, and a line for each problem."""
        word = "not ready" if self.faults else "degraded" if self.degraded else "ready"
        return "\n".join([word, *self.faults, *self.degraded]) + "\n"


class ReadinessMonitor:
    """The readiness of this process, cached briefly."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._is_stopping = threading.Event()
        self._found = Readiness()
        self._good_until = 0.0

    @property
    def is_stopping(self) -> bool:
        """True if the process was asked to stop."""
        return self._is_stopping.is_set()

    def begin_to_stop(self) -> None:
        """Report unreadiness from now on."""
        self._is_stopping.set()

    def now(self) -> Readiness:
        """Return the current readiness."""
        if self.is_stopping:
            return Readiness(faults=(STOPPING,))
        with self._one_at_a_time:
            if monotonic() >= self._good_until:
                self._found = check_readiness()
                self._good_until = monotonic() + REMEMBERED
            return self._found


MONITOR: Final = ReadinessMonitor()


def check_readiness() -> Readiness:
    """Check database, broker and replica."""
    faults = tuple(_faults())
    return Readiness(faults, tuple(_missing(is_known=not faults)))


@cache
def expected() -> frozenset[tuple[str, str]]:
    """Return app and name of all migrations in this release."""
    return frozenset(
        (config.label, module.name)
        for config in apps.get_app_configs()
        if (found := find_spec(f"{config.name}.migrations")) and found.submodule_search_locations
        for module in iter_modules(found.submodule_search_locations)
        if module.name[0] not in "_~"
    )


def _faults() -> Iterator[str]:
    """Yield the faults. Tables may be newer than this release, as during a rolling deployment, but not older."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            if not expected() <= set(cursor.fetchall()):
                yield OLDER_TABLES
    except ProgrammingError:  # no migration was ever run
        yield OLDER_TABLES
    except Error:
        yield NO_DATABASE


def _missing(*, is_known: bool) -> Iterator[str]:
    """Yield what is unavailable. The replica is checked only if the primary answers."""
    if not _broker_answers():
        yield NO_BROKER
    if is_known and replica.is_there():
        try:
            if replica.MONITOR.lag() is None:
                yield NO_REPLICA
            elif not replica.MONITOR.is_fresh():
                yield BEHIND
        except Error:
            yield NO_REPLICA


def _broker_answers() -> bool:
    try:
        with quick_line() as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_max=0)
    except (OperationalError, OSError):
        return False
    return True
