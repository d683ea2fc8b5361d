"""Scheduler, `manage.py beat`: Celery beat, of which only one works at a time, however many are
started.

It sends task names and uses no models, so it does not load Django's apps, which halves its memory.
The application_name of its PostgreSQL connection contains the host name (`name`), whether it is
active or standing by.
"""

import logging.config
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from socket import gethostname
from typing import Any

import django
import psycopg
from celery import Celery
from celery.beat import PersistentScheduler, ScheduleEntry, Service
from django.conf import settings

from ops import due, embedded, forked, logs

# An arbitrary number, the same in every beat.
ADVISORY_LOCK = 0x5AB07_0002
# The beat that holds the lock is the active one.
COUNT_BEATS = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND (classid::bigint << 32 | objid::bigint) = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
LONGEST_NAME = 63  # bytes of application_name that PostgreSQL keeps
PARAMETERS = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}  # of libpq
AGAIN = 0.2  # seconds between attempts to reach PostgreSQL
LONGEST_SLEEP = 5  # seconds; after each sleep, beat checks that it still holds the lock
LONGEST_SILENCE = 600.0  # seconds after which a task is sent whatever its query returns


def main(app: Celery) -> None:
    """Send the tasks of *app* when they are due, until stopped. Exits with status 1 where a
    production system is not safe to start.
    """
    logging.config.dictConfig(settings.LOGGING)
    logs.configure()
    if not settings.DEMO and (status := forked.fork(_check, "check").wait()):
        sys.exit(status)
    if settings.METRICS:
        django.setup()
        from ops.metrics import server  # only imported with metrics enabled

        server.serve()
    turn = Turn(settings.DATABASES["default"])
    turn.wait(partial(print, flush=True))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # Celery then saves what it has sent
    Service(
        app,
        max_interval=LONGEST_SLEEP,
        schedule_filename=str(settings.VAR_DIR / "beat-schedule"),
        scheduler_cls=partial(GuardedScheduler, turn),  # type: ignore[arg-type]
    ).start()


def _check() -> None:
    """Run the production checks; in a child process, so that their memory is freed."""
    django.setup()
    from ops.checks import refuse_unsafe_start  # has models

    refuse_unsafe_start()


class TurnLost(Exception):
    """Another beat holds the lock."""


def name() -> str:
    """Return the application_name of this host's beat."""
    return f"sabot beat {gethostname()}"[:LONGEST_NAME]


class Turn:
    """The right to send tasks: an advisory lock in *database* (a settings dict), held while `connection` is open."""

    def __init__(self, database: Mapping[str, Any]) -> None:
        self._database = database
        self.connection = self._connect()

    def wait(self, say: Callable[[str], object]) -> None:
        """Wait until no other beat is active."""
        if not self._is_free():
            say("Another beat is at work; waiting to take over from it")
            self.connection.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])

    def keep(self) -> None:
        """Check that the lock is held. If the connection was lost, reconnect and take it again. Raises TurnLost."""
        try:
            self.connection.execute("SELECT 1")
        except (psycopg.OperationalError, psycopg.InterfaceError):
            self._take_again()

    def _take_again(self) -> None:
        while True:
            self.connection.close()
            try:
                self.connection = self._connect()
                if self._is_free():
                    return
            except (psycopg.OperationalError, psycopg.InterfaceError, embedded.EmbeddedError):
                time.sleep(AGAIN)
            else:
                raise TurnLost

    def _is_free(self) -> bool:
        """Try to take the lock; return whether it was free."""
        row = self.connection.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK]).fetchone()
        return row == (True,)

    def _connect(self) -> psycopg.Connection:
        """Connect without Django's backend, which would take a third of this process's memory."""
        if settings.EMBEDDED:
            embedded.ensure_running(settings.VAR_DIR)
        given = {PARAMETERS[name]: value for name, value in self._database.items() if value and name in PARAMETERS}
        options = {name: value for name, value in self._database["OPTIONS"].items() if name != "server_side_binding"}
        return psycopg.connect(**given, **options | {"application_name": name()}, autocommit=True)


class GuardedScheduler(PersistentScheduler):
    """Sends only tasks that have work to do, and only while the lock is held. If PostgreSQL
    restarts, the lock is taken again at once, because shared tables depend on it. If another beat
    was faster, this process exits and its supervisor starts it again.
    """

    def __init__(self, turn: Turn, *args: Any, **kwargs: Any) -> None:
        self._turn = turn
        self._sent_at: dict[str, float] = {}
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send everything that is due and return the seconds until the next task. Raises TurnLost."""
        self._turn.keep()
        while not (pause := super().tick(*args, **kwargs)):
            pass
        return pause

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send a task unless its query shows that it has nothing to do (`ops.due`)."""
        task = str(entry.task)
        if self._has_work(task):
            self._sent_at[task] = time.monotonic()
            super().apply_entry(entry, producer)

    def adjust(self, n: float, drift: float = 0.001) -> float:
        """Sleep until just after a task is due. Celery wakes ten milliseconds early and then polls the clock without a
        pause, for each of several tasks a second.
        """
        return n + drift if n and n > 0 else n

    def schedules_equal(self, old_schedules: object, new_schedules: object) -> bool:
        """Return whether the schedule is unchanged: it never changes while beat runs."""
        return old_schedules is not None

    def _has_work(self, task: str) -> bool:
        question = due.QUESTIONS.get(task)
        if question is None or time.monotonic() - self._sent_at.get(task, -inf) > LONGEST_SILENCE:
            return True
        try:
            return self._turn.connection.execute(f"SELECT EXISTS ({question})".encode()).fetchone() == (True,)
        except psycopg.Error:
            return True
