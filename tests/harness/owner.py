"""Lets a test write as the owner of the tables, in the transaction of the test.

The login role of web and workers, with which tests run, cannot write what only functions may write.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg
from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.sql import InsertQuery, UpdateQuery

from players.models import User

Values = Sequence[Any] | Mapping[str, Any]


def as_owner(statement: str, values: Values = ()) -> int:
    """Run a statement as the owner, and return the number of rows."""
    ((rows,),) = _ask("SELECT tests.as_owner(%s)", statement, values)
    return int(rows)


def unguarded(statement: str, values: Values = ()) -> int:
    """Run a statement as a superuser without triggers and foreign keys, and return the number of rows."""
    ((rows,),) = _ask("SELECT tests.unguarded(%s)", statement, values)
    return int(rows)


def _ask(call: str, statement: str, values: Values) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        whole = psycopg.ClientCursor(connection.connection).mogrify(statement, values) if values else statement
        cursor.execute(call, [whole])
        return list(cursor.fetchall())


@dataclass(frozen=True)
class Answer:
    """The result of a statement of the owner. Values that JSON does not have are text."""

    rowcount: int
    rows: Sequence[tuple[Any, ...]] = ()

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the first row."""
        return self.rows[0] if self.rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return list(self.rows)


class OwnerWithin:
    """The owner in the transaction of the test, used like a connection of the owner."""

    def execute(self, statement: str, values: Values = ()) -> Answer:
        """Run a statement; a query starts with SELECT, and its columns have different names."""
        if statement.startswith("SELECT"):
            rows = [tuple(row.values()) for (row,) in _ask("SELECT tests.rows_as_owner(%s)", statement, values)]
            return Answer(len(rows), rows)
        if statement.startswith(("ALTER TABLE", "DROP TRIGGER")):  # refused while the table has pending events
            as_owner("SET CONSTRAINTS ALL IMMEDIATE")
            as_owner("SET CONSTRAINTS ALL DEFERRED")
        return Answer(as_owner(statement, values))


def update_as_owner(rows: QuerySet[Any], **values: Any) -> int:
    """Update *rows* as `QuerySet.update` does."""
    query = cast("UpdateQuery", rows.query.chain(UpdateQuery))
    query.add_update_values(values)
    statement, parameters = query.get_compiler(connection=connection).as_sql()
    return as_owner(statement, parameters)


def create_as_owner(*rows: Model) -> None:
    """Insert *rows* of one model as `QuerySet.bulk_create` does, without reading back what the database sets."""
    if not rows:
        return
    query = InsertQuery(type(rows[0]))
    fields = [field for field in rows[0]._meta.concrete_fields if not (field.primary_key and field.db_returning)]
    query.insert_values(fields, list(rows))
    for statement, parameters in query.get_compiler(connection=connection).as_sql():
        as_owner(statement, parameters)


@contextmanager
def without_guards(*tables: str) -> Iterator[None]:
    """Disable the triggers of these tables inside the block."""
    for each in ("DISABLE", "ENABLE"):
        as_owner("SET CONSTRAINTS ALL IMMEDIATE")  # a table with pending events cannot be altered
        as_owner("SET CONSTRAINTS ALL DEFERRED")
        for table in tables:
            as_owner(f"ALTER TABLE {table} {each} TRIGGER USER")
        if each == "DISABLE":
            yield


def one_as_owner(row: Model) -> Any:
    """Insert a row as `create_as_owner` does, and return the newest row of its model."""
    create_as_owner(row)
    return type(row)._default_manager.latest("pk")


def without(function: str, condition: str, instead: str = "false") -> None:
    """Replace a condition in the body of a function."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = %s", [function])
        (text,) = cursor.fetchone()
    assert condition in text
    as_owner(text.replace(condition, instead, 1))


def readable_tables() -> list[str]:
    """Return the tables that the login role can read: all but those of the owner's keys."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            " AND NOT relispartition AND has_table_privilege(oid, 'SELECT') ORDER BY relname"
        )
        return [table for (table,) in cursor.fetchall()]


def disable(user: User) -> None:
    """Disable the log-in of this user, as the closing of an account does."""
    as_owner("UPDATE players_user SET is_active = false WHERE id = %s", [user.pk])
