"""Reads that a streaming replica of PostgreSQL may answer, where the house has one (``REPLICA_URL``): the lobby, which
more people look at than play, and reports, which read for long. Nothing that decides over money, a limit or a
permission is read here.

Within `on_replica` the alias ``default`` of the thread is the replica, so that whatever reads there needs to know
nothing of it. It takes no writes. What is read was true a moment ago, and how long ago is known: the primary dates each
commit, and the replica knows the last one that it has. Where that is too long ago the primary answers, as it does where
the replica fails.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from math import inf
from typing import Final, TypeVar

import structlog
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import ReadOnlySqlTransaction

ALIAS: Final = "replica"
REMEMBERED: Final = 1.0  # seconds for which it is not asked again how far it is
LEFT_ALONE: Final = 30.0  # seconds for which one that failed is not tried again
PATIENCE: Final = 2.0  # seconds for an answer that somebody waits for
LOOK: Final = 0.05  # seconds between two looks at how far it is

LOBBY: Final = "lobby"  # what is read, as metrics call it
REPORT: Final = "report"
PRIMARY: Final = "primary"  # who answered

# How long ago the last commit happened that it has: it has everything before. Where nothing is committed that is long
# ago all the same, and the primary is asked whether there is more. A replica that took over is none any more.
FOLLOWS: Final = """
SELECT pg_is_in_recovery(),
    greatest(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float,
    pg_last_wal_replay_lsn()::text
"""
IS_BEHIND: Final = "SELECT pg_current_wal_insert_lsn() > %s::pg_lsn"
WRITTEN: Final = "SELECT pg_current_wal_insert_lsn()::text"
HAS: Final = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn"

T = TypeVar("T")

logger = structlog.get_logger(__name__)

HEARD_BY: Final[list[Callable[[str, str], object]]] = []
"""Who is told of each read: what was read, and who answered."""


class _Here(threading.local):
    """What a thread knows for itself: how many failures there were when it connected; and of which moment it reads the
    house, where that is not the present.
    """

    failures = 0
    moment: datetime | None = None


_here = _Here()


class Watch:
    """How far behind the replica is, as this process knows it."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._lag: float | None = None
        self._good_until = 0.0
        self.failures = 0  # connections from before the last one are not used again

    def lag(self) -> float | None:
        """Return how many seconds the replica is behind at most; None where it is away, or was a moment ago."""
        if self._one_at_a_time.acquire(blocking=False):  # nobody waits for another one's look
            try:
                if time.monotonic() >= self._good_until:
                    self._lag = self._look()
                    self._good_until = time.monotonic() + (REMEMBERED if self._lag is not None else LEFT_ALONE)
            finally:
                self._one_at_a_time.release()
        return self._lag

    def is_fresh(self) -> bool:
        """Say whether it may answer now."""
        return is_there() and (lag := self.lag()) is not None and lag <= settings.REPLICA_LAG_SECONDS

    def leave_alone(self, error: Exception) -> None:
        """Do not try it again for a while."""
        self.failures += 1
        self._lag, self._good_until = None, time.monotonic() + LEFT_ALONE
        logger.warning("replica_failed", error=str(error).strip())

    def forget(self) -> None:
        """Look again with the next question."""
        self._lag, self._good_until = None, 0.0

    def _look(self) -> float | None:
        try:
            with on_replica(), connection.cursor() as cursor:
                cursor.execute(FOLLOWS)
                follows, seconds, replayed = cursor.fetchone()
        except (InterfaceError, OperationalError) as error:
            self.failures += 1
            logger.warning("replica_away", error=str(error).strip())
            return None
        if not follows or replayed is None:
            logger.warning("replica_follows_nobody")
            return None
        if seconds is not None and seconds <= settings.REPLICA_LAG_SECONDS:
            return float(seconds)
        with connection.cursor() as cursor:
            cursor.execute(IS_BEHIND, [replayed])
            (is_behind,) = cursor.fetchone()
        return (inf if seconds is None else float(seconds)) if is_behind else 0.0


WATCH: Final = Watch()


def is_there() -> bool:
    """Say whether the house has a replica."""
    return ALIAS in connections.settings


def read(what: str, question: Callable[[], T]) -> T:
    """Return what *question* answers: from the replica where that is fresh enough, from the primary otherwise. A reader
    who has just written something in a transaction that is still open reads where they wrote.
    """
    if WATCH.is_fresh() and not connection.in_atomic_block:
        try:
            with on_replica():
                answer = question()
        except Error as error:
            give_up(error)
        else:
            tell(what, ALIAS)
            return answer
    tell_of_primary(what)
    return question()


def give_up(error: Error) -> None:
    """Go on at the primary after an error of the replica. Raises it where somebody tried to write there."""
    if isinstance(error.__cause__, ReadOnlySqlTransaction):
        raise error
    WATCH.leave_alone(error)


def tell(what: str, who: str) -> None:
    """Tell who wants to know who has answered."""
    for hear in HEARD_BY:
        hear(what, who)


def tell_of_primary(what: str) -> None:
    """Tell that the primary answers what a replica might have, where there is one."""
    if is_there():
        tell(what, PRIMARY)


@contextmanager
def on_replica(patience: float = PATIENCE) -> Iterator[None]:
    """Have this thread read from the replica, and wait so many seconds for each answer. Raises OperationalError and
    InterfaceError where it is not there. Its connection is closed after any error.
    """
    primary, replica = connections[DEFAULT_DB_ALIAS], connections[ALIAS]
    if _here.failures != WATCH.failures:
        _here.failures = WATCH.failures
        replica.close()
    connections[DEFAULT_DB_ALIAS] = replica
    measured, replica.execute_wrappers = replica.execute_wrappers, primary.execute_wrappers
    try:
        replica.ensure_connection()
        _be_patient(replica, patience)
        yield
    except Error:
        replica.close()
        raise
    finally:
        replica.execute_wrappers = measured
        connections[DEFAULT_DB_ALIAS] = primary


@contextmanager
def reading_as_of(moment: datetime) -> Iterator[None]:
    """Have `as_of` say that the house is read as it was then."""
    _here.moment = moment
    try:
        yield
    finally:
        _here.moment = None


def as_of() -> datetime:
    """Return of which moment the house is read: all that was committed before is seen. It begins a transaction that is
    to see one state.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        (now,) = cursor.fetchone()
    return _here.moment or now


def has_all_of(primary: BaseDatabaseWrapper) -> bool:
    """Wait until the replica has all that was committed when this was asked, for as long as it may be behind; say
    whether it has.
    """
    if not is_there() or WATCH.lag() is None:
        return False
    with primary.cursor() as cursor:
        cursor.execute(WRITTEN)
        (written,) = cursor.fetchone()
    until = time.monotonic() + settings.REPLICA_LAG_SECONDS
    try:
        with on_replica(), connection.cursor() as cursor:
            while True:
                cursor.execute(HAS, [written])
                if cursor.fetchone() == (True,):
                    return True
                if time.monotonic() > until:
                    return False
                time.sleep(LOOK)
    except (InterfaceError, OperationalError) as error:
        WATCH.leave_alone(error)
        return False


def _be_patient(replica: BaseDatabaseWrapper, seconds: float) -> None:
    """Have psycopg wait so long for an answer, and then raise OperationalError: one that is frozen says nothing."""
    line = replica.connection
    line.wait = partial(type(line).wait, line, timeout=seconds)
