"""Runs code in a process that kills itself with SIGKILL at a given SQL statement (`dies`)."""

import os
import re
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

ALIVE = 20_090  # number of the advisory lock that a process holds while its session exists
Act = Callable[[], object]

# Statements by which Django's models only read, without locks or our functions. A crash after one
# leaves the same state as a crash before it, so they are not counted.
_ONLY_READS = re.compile(r'SELECT (DISTINCT )?"(?!.* FOR (NO KEY )?(UPDATE|SHARE))', re.DOTALL)


def dies(act: Act, when: str, number: int, through: str = "default", *, every: bool = True) -> bool:
    """Run *act* in a process that dies ``before`` or ``after`` a statement; return True if it died.

    *number* counts the statements of connection *through*. COMMIT counts; statements that only read
    do not. On return PostgreSQL has rolled back and released the locks of the dead process.

    Unless *every* is true, only the first statement of a transaction, COMMIT, and statements
    outside transactions count, because a transaction is done in full or not at all.
    """
    child = os.fork()
    if child == 0:
        try:
            _die_at(when, number, through, every=every)
            act()
        except BaseException:  # noqa: BLE001  (this process must not continue as a second pytest)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    _wait_until_its_session_is_gone()
    return os.WIFSIGNALED(status)


def _die_at(when: str, number: int, through: str, *, every: bool) -> None:
    left = number
    # Open connections belong to the parent, which continues to use them. The child may even see a
    # connection to another test's database, because Django stores connections by event loop, which
    # a fork does not inherit.
    for each in connections.all():
        each.connection = None
    connection = connections[through]
    _hold(connection)

    def counted(work: Callable[[], Any], *, counts: bool) -> Any:
        nonlocal left
        left -= counts
        if when == "before" and counts and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        result = work()
        if when == "after" and counts and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    commit = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]  # Django's own, untyped
    BaseDatabaseWrapper._commit = lambda self: counted(lambda: commit(self), counts=True)  # type: ignore[attr-defined]

    def wrapper(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        work = partial(execute, sql, params, many, context)
        is_one_of_several = context["connection"].in_atomic_block and left != number
        return work() if _ONLY_READS.match(str(sql)) else counted(work, counts=every or not is_one_of_several)

    connection.execute_wrappers.append(wrapper)
    copy = BaseDatabaseWrapper.copy

    def copied(self: BaseDatabaseWrapper, alias: str | None = None) -> BaseDatabaseWrapper:
        session = copy(self, alias)
        _hold(session)
        session.execute_wrappers.append(wrapper)
        return session

    BaseDatabaseWrapper.copy = copied  # type: ignore[assignment,method-assign]


def _hold(session: BaseDatabaseWrapper) -> None:
    """Open the session and take the shared lock of living processes."""
    session.ensure_connection()
    with session.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock_shared(%s)", [ALIVE])


def _wait_until_its_session_is_gone() -> None:
    """Wait until PostgreSQL notices that the client is dead, because jobs skip locked rows."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s), pg_advisory_unlock(%s)", [ALIVE, ALIVE])
