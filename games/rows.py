"""Joined rows read by fixed statements, as the instances Django would have made of them.

For what every round reads: Django's compiler takes ten times as long over such a query as PostgreSQL does.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from django.db import connection, models

M = TypeVar("M", bound=models.Model)


def columns(model: type[models.Model], alias: str) -> str:
    """Return what a statement has to select for `instance`, from the table of that alias."""
    return ", ".join(f"{alias}.{field.column}" for field in model._meta.concrete_fields)


def fetch_one(statement: str, parameters: Sequence[int | str | UUID | list[str]]) -> Iterator[Any] | None:
    """Return the columns of the first row, to be taken one after another, or None."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return None if row is None else iter(row)


def instance(model: type[M], row: Iterator[Any]) -> M:
    """Take the next columns of a row as an instance."""
    fields = model._meta.concrete_fields
    values = [_converted(field, value) for field, value in zip(fields, islice(row, len(fields)), strict=True)]
    return model.from_db(connection.alias, [field.attname for field in fields], values)


def _converted(field: "models.Field[Any, Any]", value: Any) -> Any:
    for convert in field.get_db_converters(connection):
        value = convert(value, None, connection)
    return value
