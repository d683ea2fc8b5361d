"""The clock of the house: Celery's beat, of which one at a time works however many are started."""

from collections.abc import Callable
from typing import Any

from celery.beat import PersistentScheduler
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

# Any number, the same for every beat of a house.
ADVISORY_LOCK = 0x5AB07_0002


def take_turn(say: Callable[[str], object]) -> BaseDatabaseWrapper:
    """Wait until no other beat works; return the connection that says so for as long as it is open."""
    guard = connections["default"].copy("beat")
    with guard.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK])
        if cursor.fetchone() == (False,):
            say("Another beat is at work; waiting to take over from it")
            cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
    return guard


class GuardedScheduler(PersistentScheduler):
    """Sends nothing once the lock is lost: the connection's error ends the process, and whoever keeps it starts it
    again.
    """

    def __init__(self, guard: BaseDatabaseWrapper, *args: Any, **kwargs: Any) -> None:
        self._guard = guard
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due and return the seconds until the next. Raises OperationalError when the lock is lost."""
        with self._guard.cursor() as cursor:
            cursor.execute("SELECT 1")
        return super().tick(*args, **kwargs)
