"""Reads from an optional streaming replica of PostgreSQL (``REPLICA_URL``): the lobby, which has
more viewers than players, and reports, which run long. Decisions about money, limits or permissions
are never read here.

Within `on_replica` the thread's alias ``default`` is the replica, so that code that reads there
needs no changes. The replica takes no writes. Its data is slightly old, and the lag is known: the
primary dates each commit, and the replica reports the last one it has replayed. If the lag is too
long or the replica fails, the primary answers.
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
REMEMBERED: Final = 1.0  # seconds for which a measured lag is reused
LEFT_ALONE: Final = 30.0  # seconds for which a failed replica is not tried again
PATIENCE: Final = 2.0  # seconds to wait for an answer in a request
POLL_SECONDS: Final = 0.05  # seconds between two checks of the replay position

LOBBY: Final = "lobby"  # what is read, as a metrics label
REPORT: Final = "report"
PRIMARY: Final = "primary"  # who answered, as a metrics label

# Age of the last replayed commit. Without new commits the age grows all the same; then the primary
# is asked whether there is more. A replica that was promoted is no longer a replica.
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
"""Called for each read with what was read and who answered."""


class _Here(threading.local):
    """Thread-local state: the failure count when the thread connected, and the time as of which it
    reads, if not now.
    """

    failures = 0
    moment: datetime | None = None


_here = _Here()


class ReplicaMonitor:
    """The replica's lag, as measured by this process."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._lag: float | None = None
        self._good_until = 0.0
        self.failures = 0  # connections opened before the last failure are not used again

    def lag(self) -> float | None:
        """Return the replica's maximum lag in seconds; None where it failed recently."""
        if self._one_at_a_time.acquire(blocking=False):  # other threads use the last measurement
            try:
                if time.monotonic() >= self._good_until:
                    self._lag = self._measure()
                    self._good_until = time.monotonic() + (REMEMBERED if self._lag is not None else LEFT_ALONE)
            finally:
                self._one_at_a_time.release()
        return self._lag

    def is_fresh(self) -> bool:
        """Return whether the replica may answer now."""
        return is_there() and (lag := self.lag()) is not None and lag <= settings.REPLICA_LAG_SECONDS

    def leave_alone(self, error: Exception) -> None:
        """Do not use the replica for a while."""
        self.failures += 1
        self._lag, self._good_until = None, time.monotonic() + LEFT_ALONE
        logger.warning("replica_failed", error=str(error).strip())

    def forget(self) -> None:
        """Measure again at the next call."""
        self._lag, self._good_until = None, 0.0

    def _measure(self) -> float | None:
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


MONITOR: Final = ReplicaMonitor()


def is_there() -> bool:
    """Return whether a replica is configured."""
    return ALIAS in connections.settings


def read(what: str, question: Callable[[], T]) -> T:
    """Return the result of *question*, from the replica if it is fresh enough, otherwise from the
    primary. Within an open transaction the primary is used, so that callers see their own writes.
    """
    if MONITOR.is_fresh() and not connection.in_atomic_block:
        try:
            with on_replica():
                answer = question()
        except Error as error:
            give_up(error)
        else:
            log_failure(what, ALIAS)
            return answer
    log_primary_failure(what)
    return question()


def give_up(error: Error) -> None:
    """Continue on the primary after an error of the replica. Re-raises the error of an attempted write."""
    if isinstance(error.__cause__, ReadOnlySqlTransaction):
        raise error
    MONITOR.leave_alone(error)


def log_failure(what: str, who: str) -> None:
    """Report who answered to the listeners."""
    for hear in HEARD_BY:
        hear(what, who)


def log_primary_failure(what: str) -> None:
    """Report that the primary answered, if a replica is configured."""
    if is_there():
        log_failure(what, PRIMARY)


@contextmanager
def on_replica(patience: float = PATIENCE) -> Iterator[None]:
    """Make this thread read from the replica, with a timeout of *patience* seconds per answer.
    Raises OperationalError and InterfaceError where it is unavailable. Its connection is closed
    after any error.
    """
    primary, replica = connections[DEFAULT_DB_ALIAS], connections[ALIAS]
    if _here.failures != MONITOR.failures:
        _here.failures = MONITOR.failures
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
    """Make `as_of` return *moment*."""
    _here.moment = moment
    try:
        yield
    finally:
        _here.moment = None


def as_of() -> datetime:
    """Return the time as of which data is read: everything committed before is visible. Call it at
    the start of a transaction with a single snapshot.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        (now,) = cursor.fetchone()
    return _here.moment or now


def has_all_of(primary: BaseDatabaseWrapper) -> bool:
    """Wait until the replica has everything committed so far, for `REPLICA_LAG_SECONDS` at most;
    return whether it has.
    """
    if not is_there() or MONITOR.lag() is None:
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
                time.sleep(POLL_SECONDS)
    except (InterfaceError, OperationalError) as error:
        MONITOR.leave_alone(error)
        return False


def _be_patient(replica: BaseDatabaseWrapper, seconds: float) -> None:
    """Make psycopg raise OperationalError after *seconds* without an answer: a frozen server sends no error."""
    line = replica.connection
    line.wait = partial(type(line).wait, line, timeout=seconds)
