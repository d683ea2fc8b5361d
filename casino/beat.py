"""The clock of the house: Celery's beat, of which one at a time works however many are started.

PostgreSQL knows them by the name of their machine: that of one at work, or standing by, is `name()`.
"""

import time
from collections.abc import Callable
from socket import gethostname
from typing import Any

from celery.beat import PersistentScheduler
from django.db import InterfaceError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# Any number, the same for every beat of a house.
ADVISORY_LOCK = 0x5AB07_0002
LONGEST_NAME = 63  # bytes that PostgreSQL keeps of it
AGAIN = 0.2  # seconds until PostgreSQL is tried again


class TurnLost(Exception):
    """Another beat works."""


def name() -> str:
    """Return what PostgreSQL shows the connection of this machine's beat as."""
    return f"sabot beat {gethostname()}"[:LONGEST_NAME]


def take_turn(say: Callable[[str], object]) -> BaseDatabaseWrapper:
    """Wait until no other beat works; return the connection that says so for as long as it is open."""
    guard = connections["default"].copy("beat")
    guard.settings_dict["OPTIONS"]["application_name"] = name()
    if not _is_free(guard):
        say("Another beat is at work; waiting to take over from it")
        with guard.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
    return guard


class GuardedScheduler(PersistentScheduler):
    """Sends nothing once the lock is lost. It goes with PostgreSQL and is taken again when that is back, at once, since
    shared tables wait for it. Where another beat was faster this process ends, and whoever keeps it starts it again.
    """

    def __init__(self, guard: BaseDatabaseWrapper, *args: Any, **kwargs: Any) -> None:
        self._guard = guard
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due and return the seconds until the next. Raises TurnLost."""
        try:
            with self._guard.cursor() as cursor:
                cursor.execute("SELECT 1")
        except (OperationalError, InterfaceError):
            self._take_turn_again()
        return super().tick(*args, **kwargs)

    def _take_turn_again(self) -> None:
        while True:
            self._guard.close()
            try:
                if _is_free(self._guard):
                    return
            except (OperationalError, InterfaceError):
                time.sleep(AGAIN)
            else:
                raise TurnLost


def _is_free(guard: BaseDatabaseWrapper) -> bool:
    """Take the lock, if nobody has it; say whether it was free."""
    with guard.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK])
        (is_free,) = cursor.fetchone()
    return bool(is_free)
