"""Prepared statements, sent to libpq without psycopg's cursors, which take five to ten times as long as libpq.

Several statements travel in one packet and are answered in one, BEGIN and COMMIT too; psycopg's pipeline sends a packet
for each. psycopg prepares a statement that was used a few times and forgets what PostgreSQL may have forgotten, so only
what it has prepared is sent here. Other statements go through psycopg, as do statements that are counted or watched.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from select import POLLIN, POLLOUT, poll
from typing import Any, Final, TypeAlias

from django.db import Error, connections, transaction
from psycopg import Connection
from psycopg._queries import _query2pg_nocache
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.types.datetime import TimestamptzLoader

Question: TypeAlias = tuple[str, Sequence[Any] | Mapping[str, Any]]
"""A statement and its parameters."""

KEPT: Final = "wire"  # attribute of Django's connection
WAITING: Final = "waiting_savepoint"  # another, see `transaction_or_savepoint`
COMMIT: Final = b"COMMIT"
NUMBERS: Final = count()  # of savepoints
PROMISED: Final = {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}


class Answer:
    """PostgreSQL's answer to a statement."""

    def __init__(self, wire: "_Wire", result: PGresult) -> None:
        self._wire, self._result = wire, result

    def first(self) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        if not self._result.ntuples:
            return None
        return self._loader().load_row(0, tuple)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return self._loader().load_rows(0, self._result.ntuples, tuple)

    def names(self) -> list[str]:
        """Return the names of the columns."""
        names = (self._result.fname(index) for index in range(self._result.nfields))
        return [name.decode() for name in names if name is not None]

    def _loader(self) -> Any:
        loader = self._wire.loader
        loader.set_pgresult(self._result, format=Format.TEXT)
        return loader


def ask(*questions: Question, commits: bool = False, after: Question | None = None) -> list[Answer] | None:
    """Send the statements in one round trip and return their answers; None where one of them is not prepared, and
    nothing was sent.

    BEGIN travels in front where the transaction has not begun, COMMIT behind if *commits*. No statement is carried out
    after one that fails. *after* travels with them and is carried out when the transaction has ended, in one of its
    own; its answer is the last, and is left out if it fails. Raises what Django's cursor raises.
    """
    database: Any = connections["default"]
    if database.queries_logged or database.execute_wrappers:
        _send_savepoint(database)
        return None
    database.close_if_health_check_failed()
    database.ensure_connection()
    database.validate_thread_sharing()
    database.validate_no_broken_transaction()
    with database.wrap_database_errors:
        wire = _wire(database)
        prepared = [wire.prepared(*question) for question in questions]
        following = wire.prepared(*after) if after else None
        if all(prepared) and (following or not after):
            savepoint = vars(database).pop(WAITING, None)
            return [Answer(wire, result) for result in wire.exchange(prepared, savepoint, commits, following)]
    _send_savepoint(database)
    return None


@contextmanager
def transaction_or_savepoint() -> Iterator[None]:
    """Do what Django's `atomic` does, but within a transaction with fewer round trips.

    The savepoint travels with the first statement, which must be one of this module or of `audit.raw_rows`, and is not
    released: it ends with the transaction.
    """
    database: Any = connections["default"]
    if not database.in_atomic_block or database.needs_rollback:
        with transaction.atomic():
            yield
        return
    savepoint = f"within_{next(NUMBERS)}"
    database.savepoint_ids.append(savepoint)
    vars(database)[WAITING] = savepoint
    try:
        yield
    except BaseException:
        if vars(database).pop(WAITING, None) is None and not database.closed_in_transaction:  # it was sent
            database.needs_rollback = False
            try:
                database.savepoint_rollback(savepoint)
            except Error:
                database.needs_rollback = True
        raise
    finally:
        database.savepoint_ids.remove(savepoint)
        vars(database).pop(WAITING, None)


def _send_savepoint(database: Any) -> None:
    savepoint = vars(database).pop(WAITING, None)
    if savepoint is not None:
        with database.cursor() as cursor:
            cursor.execute(f"SAVEPOINT {savepoint}")


class _Wire:
    """A connection of psycopg, with what is kept as long as it is open."""

    def __init__(self, connection: "Connection[Any]") -> None:
        self.connection = connection
        self._libpq = connection.pgconn
        self._named = connection._prepared._names
        self._dumper = Transformer.from_context(connection)
        times = connection.cursor()
        times.adapters.register_loader("timestamptz", TimestamptzLoader)  # in C; Django's is in Python
        self.loader: Any = Transformer.from_context(times)
        self._poll = poll()
        self._poll.register(self._libpq.socket, POLLIN)

    def prepared(self, statement: str, parameters: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Return name and parameters as libpq takes them, or None where the statement is not prepared."""
        query, formats, order = _translated(statement)
        given: Any = parameters
        values = given if order is None else [given[name] for name in order]
        if len(values) != len(formats):
            return None  # psycopg says what is wrong
        dumped = self._dumper.dump_sequence(values, formats)
        key = query, self._dumper.types or ()
        name = self._named.get(key)
        if name is None:
            return None
        self._named.move_to_end(key)  # as psycopg does, which forgets what was not used for long
        return name, dumped, self._dumper.formats

    def exchange(self, prepared: Sequence[Any], savepoint: str | None, commits: bool, following: Any) -> list[PGresult]:
        """Send prepared statements and return their results. Raises psycopg's errors."""
        begins = not self.connection.autocommit and self._libpq.transaction_status == TransactionStatus.IDLE
        libpq = self._libpq
        libpq.enter_pipeline_mode()
        try:
            if begins:
                libpq.send_query_params(self.connection._get_tx_start_command(), None)
            if savepoint:
                libpq.send_query_params(f"SAVEPOINT {savepoint}".encode(), None)
            for name, values, formats in prepared:
                libpq.send_query_prepared(name, values, formats)
            if commits:
                libpq.send_query_params(COMMIT, None)
            libpq.pipeline_sync()
            if following:
                libpq.send_query_prepared(*following)
                libpq.pipeline_sync()
            results = self._received()
            last = self._received() if following else []
            libpq.exit_pipeline_mode()
        except BaseException:  # nobody knows what was done
            self.connection.close()
            raise
        for result in results:
            if result.status not in PROMISED:
                raise error_from_result(result, encoding=self.loader.encoding)
        first = begins + bool(savepoint)
        return results[first : first + len(prepared)] + [each for each in last if each.status in PROMISED]

    def _received(self) -> list[PGresult]:
        """Wait for all results. libpq would not let other threads run while it waits."""
        libpq, results = self._libpq, list[PGresult]()
        while libpq.flush():  # more than the socket takes at once
            self._poll.modify(libpq.socket, POLLIN | POLLOUT)
            self._poll.poll()
            self._poll.modify(libpq.socket, POLLIN)
            libpq.consume_input()
        while True:
            while libpq.is_busy():
                self._poll.poll()
                libpq.consume_input()
            result = libpq.get_result()
            if result is None:  # the end of the results of a statement
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                return results
            results.append(result)


def _wire(database: Any) -> _Wire:
    """Return what is kept of Django's connection, new after it has connected again."""
    kept: _Wire | None = vars(database).get(KEPT)
    if kept is None or kept.connection is not database.connection:
        kept = vars(database)[KEPT] = _Wire(database.connection)
    return kept


@lru_cache(maxsize=512)
def _translated(statement: str) -> tuple[bytes, Any, list[str] | None]:
    """Return a statement with the placeholders of PostgreSQL, formats, and names of parameters in their order."""
    query, formats, order, _parts = _query2pg_nocache(statement.encode(), "utf-8")
    return query, formats, order
