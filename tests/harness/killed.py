"""Processes that kill themselves with SIGKILL at one of their SQL statements: `dies` runs an act in one of them."""

import os
import re
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

ALIVE = 20_090  # number of the lock that sessions which are to die share as long as PostgreSQL has them
Act = Callable[[], object]

# What Django's models only read, without a lock and with no function of the house: whoever dies after it leaves behind
# what whoever died before it did, so that such a statement is not counted.
_ONLY_READS = re.compile(r'SELECT (DISTINCT )?"(?!.* FOR (NO KEY )?(UPDATE|SHARE))', re.DOTALL)


def dies(act: Act, when: str, number: int, through: str = "default", *, every: bool = True) -> bool:
    """Run *act* in a process that dies ``before`` or ``after`` its statement of that number (COMMIT counts as one; what
    only reads does not count, nor what goes *through* another connection), and say whether it did. On return PostgreSQL
    has rolled back and let go of whatever the dead one held.

    Unless *every* statement counts, the first one, each COMMIT and what is outside a transaction do: what one
    transaction does is done or not done.
    """
    child = os.fork()
    if child == 0:
        try:
            _die_at(when, number, through, every=every)
            act()
        except BaseException:  # noqa: BLE001  (whatever it was: this process must not go on as a second pytest)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    _wait_until_its_session_is_gone()
    return os.WIFSIGNALED(status)


def _die_at(when: str, number: int, through: str, *, every: bool) -> None:
    left = number
    # Whatever is open belongs to the parent, which goes on with it: a session that knows the tables is quicker than a
    # new one. A child may even find another than its parent has (Django keeps them by event loop, which a fork does not
    # inherit), open to another test's database.
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
    """Open a session that holds the lock of those that are alive."""
    session.ensure_connection()
    with session.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock_shared(%s)", [ALIVE])


def _wait_until_its_session_is_gone() -> None:
    """PostgreSQL takes a moment to see that a client is dead, and jobs pass over rows that are still locked."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s), pg_advisory_unlock(%s)", [ALIVE, ALIVE])
