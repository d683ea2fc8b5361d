"""Whether this web process should be given requests: what a balancer asks before it sends any.

What another process of the house would lack as well takes nobody's requests away: without the broker every process
serves what it can, and says that it is *degraded*.
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
from django.db import Error, ProgrammingError, connection
from kombu.exceptions import OperationalError

from audit import replica
from ops.broker import quick_line

REMEMBERED: Final = 1.0  # seconds for which an answer is good: whoever asks more often costs nothing

STOPPING: Final = "the process is being stopped"
NO_DATABASE: Final = "the database does not answer"
OLDER_TABLES: Final = "the tables are older than this program: run manage.py migrate"
NO_BROKER: Final = "the broker does not answer"
NO_REPLICA: Final = "the replica does not answer"
BEHIND: Final = "the replica is behind"


@dataclass(frozen=True)
class Readiness:
    """Why no requests should come (*faults*), and what is missing while they may (*degraded*)."""

    faults: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it as `/readyz` does: a word, and a line for each thing that is missing."""
        word = "not ready" if self.faults else "degraded" if self.degraded else "ready"
        return "\n".join([word, *self.faults, *self.degraded]) + "\n"


class Watch:
    """What this process answers, remembered for a moment."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._is_stopping = threading.Event()
        self._found = Readiness()
        self._good_until = 0.0

    @property
    def is_stopping(self) -> bool:
        """Whether somebody has told this process to stop."""
        return self._is_stopping.is_set()

    def begin_to_stop(self) -> None:
        """Be unready from now on."""
        self._is_stopping.set()

    def now(self) -> Readiness:
        """Say how this process stands."""
        if self.is_stopping:
            return Readiness(faults=(STOPPING,))
        with self._one_at_a_time:
            if monotonic() >= self._good_until:
                self._found = look()
                self._good_until = monotonic() + REMEMBERED
            return self._found


WATCH: Final = Watch()


def look() -> Readiness:
    """Ask database, broker and replica."""
    faults = tuple(_faults())
    return Readiness(faults, tuple(_missing(is_known=not faults)))


@cache
def expected() -> frozenset[tuple[str, str]]:
    """Return the migrations that this program comes with: app and name."""
    return frozenset(
        (config.label, module.name)
        for config in apps.get_app_configs()
        if (found := find_spec(f"{config.name}.migrations")) and found.submodule_search_locations
        for module in iter_modules(found.submodule_search_locations)
        if module.name[0] not in "_~"
    )


def _faults() -> Iterator[str]:
    """Yield what keeps requests away. Tables may be newer than the program, as they are while one host after the other
    gets a new version; not older.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            if not expected() <= set(cursor.fetchall()):
                yield OLDER_TABLES
    except ProgrammingError:  # nothing was ever migrated
        yield OLDER_TABLES
    except Error:
        yield NO_DATABASE


def _missing(*, is_known: bool) -> Iterator[str]:
    """Yield what the house does without. Of the replica nothing is known without the primary."""
    if not _broker_answers():
        yield NO_BROKER
    if is_known and replica.is_there():
        try:
            if replica.WATCH.lag() is None:
                yield NO_REPLICA
            elif not replica.WATCH.is_fresh():
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
