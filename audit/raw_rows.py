"""Raw SQL: model instances from the rows of joins, and named errors for SQLSTATEs.

Instances are used for reads in every round: Django's compiler takes ten times as long for such a query as
PostgreSQL.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import islice
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

import psycopg
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, models
from django.db.models.base import ModelState

from audit.prepared import Question, ask

M = TypeVar("M", bound=models.Model)
Value: TypeAlias = int | str | bytes | bool | UUID | list[str] | list[int] | None


def columns(model: type[models.Model], alias: str) -> str:
    """Return the columns that a statement must select for `instance`, with the alias of the
    table.
    """
    return ", ".join(f"{alias}.{field.column}" for field in model._meta.concrete_fields)


def fetch_one(statement: str, parameters: Sequence[Value] | Mapping[str, Value]) -> Iterator[Any] | None:
    """Return an iterator over the columns of the first row, or None."""
    if answers := ask((statement, parameters)):
        row = answers[0].first()
    else:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            row = cursor.fetchone()
    return None if row is None else iter(row)


def fetch_all(statement: str, parameters: Sequence[Value] | Mapping[str, Value]) -> list[Iterator[Any]]:
    """Return an iterator over the columns of each row."""
    if answers := ask((statement, parameters)):
        return [iter(row) for row in answers[0].rows()]
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [iter(row) for row in cursor.fetchall()]


def fetch_first(statement: str, parameters: Mapping[str, Value]) -> Iterator[Any] | None:
    """Return what `fetch_one` returns, as the first statement of a transaction: BEGIN travels with it."""
    if answers := ask((statement, parameters)):
        row = answers[0].first()
    else:
        with connection.cursor() as cursor:
            with _pipeline():
                cursor.execute(statement, parameters)
            row = cursor.fetchone()
    return None if row is None else iter(row)


def fetch_last(statement: str, parameters: Sequence[Any]) -> Iterator[Any]:
    """Return an iterator over the columns of the only row, and commit: COMMIT travels with the statement.

    In a transaction within another one, nothing is committed. The caller must do nothing afterwards that can fail.
    """
    is_outermost = _is_outermost()
    if answers := ask((statement, parameters), commits=is_outermost):
        return iter(answers[0].first() or ())
    with connection.cursor() as cursor:
        if not is_outermost:
            cursor.execute(statement, parameters)
        else:
            with _pipeline():
                cursor.execute(statement, parameters)
                connection.connection.execute("COMMIT")
        return iter(cursor.fetchone())


def fetch_last_and(
    statement: str, parameters: Sequence[Any], after: Question
) -> tuple[Iterator[Any], tuple[Any, ...] | None]:
    """Do what `fetch_last` does, and return the first row of another statement too, which sees what was committed.

    It travels with them. None without a row, where it fails, and in a transaction within another one.
    """
    if not _is_outermost():
        return fetch_last(statement, parameters), None
    if answers := ask((statement, parameters), commits=True, after=after):
        return iter(answers[0].first() or ()), answers[1].first() if answers[1:] else None
    row = fetch_last(statement, parameters)
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute(*after)
        return row, cursor.fetchone()
    return row, None


def fetch_together(*questions: Question, after: Question | None = None) -> list[dict[str, Any] | None]:
    """Return the first row of each statement, as a dictionary by column name or None, in one round trip.

    Outside of a transaction, they are one. No statement is carried out after one that fails. *after*: one more, which
    sees what they have committed; None in a transaction.
    """
    if connection.in_atomic_block:
        after = None
    if answers := ask(*questions, after=after):
        found = [_named(answer.names(), answer.first()) for answer in answers]
        return found + [None] * (len(questions) + bool(after) - len(found))
    connection.ensure_connection()
    with ExitStack() as stack:
        cursors = [stack.enter_context(connection.cursor()) for _ in questions]
        with _pipeline():
            for cursor, (statement, parameters) in zip(cursors, questions, strict=True):
                cursor.execute(statement, parameters)
        found = [_first_named(cursor) for cursor in cursors]
    if after:
        with connection.cursor() as cursor:
            cursor.execute(*after)
            found.append(_first_named(cursor))
    return found


@contextmanager
def _pipeline() -> Iterator[None]:
    """Send the statements of the block in one packet.

    PostgreSQL skips what follows a statement that fails, while psycopg takes it for prepared, for as long as the
    connection lasts. After an error it has to prepare everything again.
    """
    with connection.wrap_database_errors:
        try:
            with connection.connection.pipeline():
                yield
        except BaseException:
            connection.connection._prepared.clear()
            raise


def _is_outermost() -> bool:
    return bool(connection.in_atomic_block and not connection.savepoint_ids)


def array(values: Iterable[int | str]) -> str:
    """Return an array as PostgreSQL writes it, of numbers or codes. psycopg takes ten times as long."""
    return f"{{{','.join(map(str, values))}}}"


def fetch_named(statement: str, parameters: Sequence[Value]) -> dict[str, Any] | None:
    """Return the first row as a dictionary by column name, or None."""
    if answers := ask((statement, parameters)):
        return _named(answers[0].names(), answers[0].first())
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return _first_named(cursor)


def _first_named(cursor: Any) -> dict[str, Any] | None:
    row = cursor.fetchone()
    return row and _named([column.name for column in cursor.description], row)


def _named(columns: Iterable[str], row: Iterable[Any] | None) -> dict[str, Any] | None:
    return None if row is None else named(columns, row)


def named(columns: Iterable[str], row: Iterable[Any]) -> dict[str, Any]:
    """Return a row as a dictionary by column name."""
    return dict(zip(columns, row, strict=True))


def instance(model: type[M], row: Iterator[Any]) -> M:
    """Build an instance from the next columns of a row.

    It is what Django's `from_db` builds, which takes five times as long; no model has an `__init__` and nothing listens
    for new instances.
    """
    names, converters = _reading(model)
    values = list(islice(row, len(names)))
    for index, convert in converters:
        values[index] = convert(values[index], None, connection)
    built = model.__new__(model)
    built.__dict__.update(zip(names, values, strict=True))
    built._state = ModelState()
    built._state.adding, built._state.db = False, DEFAULT_DB_ALIAS
    return built


def instance_or_none(model: type[M], row: Iterator[Any]) -> M | None:
    """Build an instance from the next columns of a row of an outer join; None where they are NULL."""
    names, _ = _reading(model)
    values = list(islice(row, len(names)))
    return None if values[names.index(model._meta.pk.attname)] is None else instance(model, iter(values))


@cache
def _reading(model: type[models.Model]) -> tuple[list[str], list[tuple[int, Callable[..., Any]]]]:
    """Return the attribute names of a model's columns, and the converters of values by index."""
    fields = model._meta.concrete_fields
    converters = [
        (index, convert) for index, field in enumerate(fields) for convert in field.get_db_converters(connection)
    ]
    return [field.attname for field in fields], converters


def sqlstate(error: DatabaseError) -> str | None:
    """Return the SQLSTATE of a database error, or None if PostgreSQL did not raise it."""
    cause = error.__cause__
    return cause.sqlstate if isinstance(cause, psycopg.Error) else None


@contextmanager
def named_errors(error_of_state: Mapping[str, type[Exception]]) -> Iterator[None]:
    """Raise the named error for each of these SQLSTATEs. All other errors stay as they are."""
    try:
        yield
    except DatabaseError as error:
        named = error_of_state.get(sqlstate(error) or "")
        if named is None:
            raise
        raise named(str(error)) from error
