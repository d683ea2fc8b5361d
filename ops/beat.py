"""The clock of the house, `manage.py beat`: Celery's beat, of which one at a time works however many are started.

It sends names of tasks and knows no model, so it does without Django's apps and half of their memory. PostgreSQL knows
each beat by the name of its machine: that of one at work, or standing by, is `name()`.
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

# Any number, the same for every beat of a house.
ADVISORY_LOCK = 0x5AB07_0002
# Whoever holds the lock is the beat that works.
COUNT_BEATS = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND (classid::bigint << 32 | objid::bigint) = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
LONGEST_NAME = 63  # bytes that PostgreSQL keeps of it
PARAMETERS = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}  # of libpq
AGAIN = 0.2  # seconds until PostgreSQL is tried again
LONGEST_SLEEP = 5  # seconds; after each, beat makes sure that it is still its turn
ANYTHING = "SELECT"  # a question that is always answered with a row
LONGEST_SILENCE = 600.0  # seconds after which a task is sent whatever is said of it


def main(app: Celery) -> None:
    """Send what *app* has due when it is due, until somebody asks to stop. Ends the process with status 1 where a
    production house is not safe to open.
    """
    logging.config.dictConfig(settings.LOGGING)
    logs.configure()
    if not settings.DEMO and (status := forked.fork(_check, "check").wait()):
        sys.exit(status)
    if settings.METRICS:
        django.setup()
        from ops.metrics import server  # a house without metrics does without their library

        server.serve()
    turn = Turn(settings.DATABASES["default"])
    turn.wait(partial(print, flush=True))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # Celery writes down then what it has sent
    Service(
        app,
        max_interval=LONGEST_SLEEP,
        schedule_filename=str(settings.VAR_DIR / "beat-schedule"),
        scheduler_cls=partial(GuardedScheduler, turn),  # type: ignore[arg-type]
    ).start()


def _check() -> None:
    """Refuse what is not safe, as every program of a production house does; in a child, whose memory goes with it."""
    django.setup()
    from ops.checks import refuse_unsafe_start  # has models

    refuse_unsafe_start()


class TurnLost(Exception):
    """Another beat works."""


def name() -> str:
    """Return what PostgreSQL shows the connection of this machine's beat as."""
    return f"sabot beat {gethostname()}"[:LONGEST_NAME]


class Turn:
    """The right to send: a lock in the *database*, as settings have it, for as long as `connection` is open."""

    def __init__(self, database: Mapping[str, Any]) -> None:
        self._database = database
        self.connection = self._connect()

    def wait(self, say: Callable[[str], object]) -> None:
        """Wait until no other beat works."""
        if not self._is_free():
            say("Another beat is at work; waiting to take over from it")
            self.connection.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])

    def ask(self, question: str) -> bool:
        """Return whether a query has rows, which also makes sure that the lock is held: where it went with PostgreSQL,
        take it again once that is back, and return True. Raises TurnLost.
        """
        try:
            row = self.connection.execute(f"SELECT EXISTS ({question})".encode()).fetchone()
        except (psycopg.OperationalError, psycopg.InterfaceError):
            self._take_again()
            return True
        return row == (True,)

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
        """Take the lock, if nobody has it; say whether it was free."""
        row = self.connection.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK]).fetchone()
        return row == (True,)

    def _connect(self) -> psycopg.Connection:
        """Connect without Django's backend, which would take the memory of a third of this process."""
        if settings.EMBEDDED:
            embedded.ensure_running(settings.VAR_DIR)
        given = {PARAMETERS[name]: value for name, value in self._database.items() if value and name in PARAMETERS}
        options = {name: value for name, value in self._database["OPTIONS"].items() if name != "server_side_binding"}
        return psycopg.connect(**given, **options | {"application_name": name()}, autocommit=True)


class GuardedScheduler(PersistentScheduler):
    """Sends no task that has nothing to do, and none once the lock is lost. The lock goes with PostgreSQL and is taken
    again when that is back, at once, since shared tables wait for it. Where another beat was faster this process ends,
    and its supervisor starts it again.
    """

    def __init__(self, turn: Turn, *args: Any, **kwargs: Any) -> None:
        self._turn = turn
        self._is_sure = False
        self._sent_at: dict[str, float] = {}
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send all that is due and return the seconds until the next. Raises TurnLost."""
        self._is_sure = False
        while not (pause := super().tick(*args, **kwargs)):
            pass
        if not self._is_sure:
            self._ask(ANYTHING)
        return pause

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send a task unless PostgreSQL says that it has nothing to do (`ops.due`)."""
        task = str(entry.task)
        if self._has_work(task):
            self._sent_at[task] = time.monotonic()
            super().apply_entry(entry, producer)

    def adjust(self, n: float, drift: float = 0.01) -> float:
        """Sleep until just after a task is due, so that tasks of one pace stay together. Celery wakes ten milliseconds
        before, and then asks the clock until it is: without a pause, at each of a few tasks a second.
        """
        return n + drift if n and n > 0 else n

    def schedules_equal(self, old_schedules: object, new_schedules: object) -> bool:
        """Say whether the schedule is still the same: nobody changes it while beat runs."""
        return old_schedules is not None

    def _has_work(self, task: str) -> bool:
        question = due.QUESTIONS.get(task, ANYTHING)
        if time.monotonic() - self._sent_at.get(task, -inf) > LONGEST_SILENCE:
            question = ANYTHING
        return self._ask(question)

    def _ask(self, question: str) -> bool:
        """Return whether a query has rows, or cannot be asked. Raises TurnLost."""
        try:
            return self._turn.ask(question)
        except psycopg.Error:
            return True
        finally:
            self._is_sure = True
