"""Fault injection at the n-th statement on the web connection."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.db import OperationalError, connection


class Fault(OperationalError):
    """The injected error."""


class Way(Enum):
    """The kind of fault: the statement is not sent, its answer is lost, or the connection is cut
    before or after it.
    """

    FAILS = "fails"
    FAILS_AFTER = "fails after"
    CUT = "cut"
    CUT_AFTER = "cut after"


@dataclass
class Struck:
    """Result of a planned fault: whether it occurred, and the number of statements."""

    statements: int = 0
    happened: bool = False


@contextmanager
def fault_at(number: int, way: Way) -> Iterator[Struck]:
    """Let statement *number* in the block fail, counted from 1."""
    struck = Struck()

    def strike() -> None:
        struck.happened = True
        if way in (Way.FAILS, Way.FAILS_AFTER):
            raise Fault(f"statement {number} {way.value}")
        connection.connection.close()

    def execute_or_strike(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        struck.statements += 1
        is_the_one = struck.statements == number
        if is_the_one and way in (Way.FAILS, Way.CUT):
            strike()
        answer = execute(sql, params, many, context)
        if is_the_one and way in (Way.FAILS_AFTER, Way.CUT_AFTER):
            strike()
        return answer

    try:
        with connection.execute_wrapper(execute_or_strike):
            yield struck
    finally:
        if struck.happened and connection.connection is not None and connection.connection.closed:
            connection.close()
