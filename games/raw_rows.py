"""Joined rows read by fixed statements, as the instances Django would have made of them.

For what every round reads: Django's compiler takes ten times as long over such a query as PostgreSQL does.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from django.db import connection, models

M = TypeVar("M", bound=models.Model)
Value: TypeAlias = int | str | bool | UUID | list[str] | list[int] | None


def columns(model: type[models.Model], alias: str) -> str:
    """Return what a statement has to select for `instance`, from the table of that alias."""
    return ", ".join(f"{alias}.{field.column}" for field in model._meta.concrete_fields)


def fetch_one(statement: str, parameters: Sequence[Value] | Mapping[str, Value]) -> Iterator[Any] | None:
    """Return the columns of the first row, to be taken one after another, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return None if row is None else iter(row)


def fetch_named(statement: str, parameters: Sequence[Value]) -> dict[str, Any] | None:
    """Return the first row under the names of its columns, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
        return row and named((column.name for column in cursor.description), row)


def named(columns: Iterable[str], row: Iterable[Any]) -> dict[str, Any]:
    """Return a row under the names of its columns."""
    return dict(zip(columns, row, strict=True))


def instance(model: type[M], row: Iterator[Any]) -> M:
    """Take the next columns of a row as an instance."""
    names, converters = _reading(model)
    values = list(islice(row, len(names)))
    for index, convert in converters:
        values[index] = convert(values[index], None, connection)
    return model.from_db(connection.alias, names, values)


@cache
def _reading(model: type[models.Model]) -> tuple[list[str], list[tuple[int, Callable[..., Any]]]]:
    """Return what a model calls its columns, and what makes its values of some of them."""
    fields = model._meta.concrete_fields
    converters = [
        (index, convert) for index, field in enumerate(fields) for convert in field.get_db_converters(connection)
    ]
    return [field.attname for field in fields], converters
