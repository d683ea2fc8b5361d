"""SQL files: functions, indexes on functions, and triggers, from each app's ``sql/`` folder.

``manage.py migrate`` applies them after the migrations. It runs each definition whose text has
changed since it was last applied, and drops what is no longer defined in any file. Comments are not
part of a definition.

- ``sql/functions/<subject>.sql``: ``CREATE OR REPLACE FUNCTION``, followed by ``REVOKE`` where not everyone may call
  it.
- ``sql/indexes.sql``: ``CREATE INDEX IF NOT EXISTS`` on a function, which does not exist yet when migrations run.
- ``sql/triggers.sql``: ``CREATE OR REPLACE TRIGGER`` or ``CREATE CONSTRAINT TRIGGER``. A statement-level trigger on a
  table partitioned by month is also created on each partition: PostgreSQL does that by itself only for row-level
  triggers.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import psycopg
from django.apps import apps
from django.db import DatabaseError, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.errors import DeadlockDetected, LockNotAvailable

from audit.raw_rows import sqlstate

FILES: Final = ("functions/*.sql", "indexes.sql", "triggers.sql")  # in this order: triggers call functions
BEGINNING: Final = re.compile(r"^(?=CREATE )", re.MULTILINE)
KINDS: Final = {
    "function": re.compile(r"CREATE OR REPLACE FUNCTION (?P<name>\w+)\("),
    "index": re.compile(r"CREATE INDEX IF NOT EXISTS (?P<name>\w+) "),
    "trigger": re.compile(
        r"CREATE (?:OR REPLACE|CONSTRAINT) TRIGGER (?P<name>\w+)\s.*?\sON (?P<table>\w+)\b", re.DOTALL
    ),
}
OBJECTS: Final = """
    CREATE TABLE IF NOT EXISTS sql_object (name text PRIMARY KEY, file text NOT NULL, sha256 text NOT NULL)
"""
RECORD: Final = """
    INSERT INTO sql_object (name, file, sha256) SELECT * FROM unnest(%s::text[], %s::text[], %s::text[])
    ON CONFLICT (name) DO UPDATE SET file = excluded.file, sha256 = excluded.sha256
"""
EXISTING: Final = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
OVERLOADS: Final = """
    SELECT p.oid::regprocedure::text FROM pg_proc AS p
    WHERE p.proname = %s AND p.pronamespace = 'public'::regnamespace ORDER BY p.oid DESC OFFSET %s
"""
CANNOT_REPLACE: Final = "42P13"  # SQLSTATE invalid_function_definition
MONTHS: Final = "SELECT inhparent::regclass::text, array_agg(inhrelid::regclass::text) FROM pg_inherits GROUP BY 1"
FOR_EACH_STATEMENT: Final = "FOR EACH STATEMENT"

Months = Mapping[str, Sequence[str]]
"""The partitions of each table that is partitioned by month."""


class SqlFileError(Exception):
    """A definition cannot be parsed or applied; the message has file, line and reason."""


@dataclass(frozen=True)
class Definition:
    """One object as defined in a file: *text* starts at *line* of *file*, a path that starts with
    the app's folder.
    """

    kind: str
    name: str
    table: str
    file: str
    line: int
    text: str

    @property
    def key(self) -> str:
        """Return the name of the object in `sql_object`."""
        return f"{self.kind} {self.name}" + (f" on {self.table}" if self.table else "")

    @property
    def sha256(self) -> str:
        """Return the digest of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def definitions() -> list[Definition]:
    """Return the definitions of all apps: functions, then indexes, then triggers. Raises SqlFileError."""
    folders = [Path(config.path) for config in apps.get_app_configs()]
    return [
        definition
        for pattern in FILES
        for folder in folders
        for file in sorted(folder.glob(f"sql/{pattern}"))
        for definition in read(file.read_text(), str(file.relative_to(folder.parent)))
    ]


def read(text: str, file: str) -> Iterator[Definition]:
    """Yield the definitions in the *text* of a file. Each starts with CREATE at the beginning of a
    line and ends with the last semicolon at a line end before the next definition. Raises
    SqlFileError.
    """
    begins = [found.start() for found in BEGINNING.finditer(text)]
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        definition = text[begin : text.rfind(";\n", begin, end) + 1]
        line = text.count("\n", 0, begin) + 1
        for kind, pattern in KINDS.items():
            if found := pattern.match(definition):
                yield Definition(kind, found["name"], found.groupdict().get("table", ""), file, line, definition)
                break
        else:
            raise SqlFileError(
                f"{file}:{line}: neither a function, an index nor a trigger, or without a final semicolon"
            )


def apply(cursor: CursorWrapper, due: Iterable[Definition]) -> list[Definition]:
    """Apply exactly the definitions in *due*, as the owner, in the caller's transaction. Return
    those that changed.

    Raises SqlFileError; DatabaseError where a table is locked, after which the caller tries again.
    """
    cursor.execute(OBJECTS)
    cursor.execute("SELECT name, sha256 FROM sql_object")
    applied: dict[str, str] = dict(cursor.fetchall())
    defined: dict[str, Definition] = {}
    for definition in due:
        if (first := defined.setdefault(definition.key, definition)) is not definition:
            where = f"{first.file}:{first.line}"
            raise SqlFileError(f"{definition.file}:{definition.line}: {definition.key} is defined in {where} already")
    changed = [each for each in defined.values() if applied.get(each.key) != each.sha256]
    # Functions call each other: create all without checking their bodies first, then again with checks. REVOKE names a
    # function without arguments, so it comes when no other overload is left.
    cursor.execute("SET LOCAL check_function_bodies = off")
    cursor.execute(EXISTING)
    existing = {name for (name,) in cursor.fetchall()}
    functions = [replace(each, text=each.text.partition("\nREVOKE ")[0]) for each in changed if each.kind == "function"]
    cursor.execute(MONTHS)
    months: Months = dict(cursor.fetchall())
    _run_all(cursor, [each for each in functions if each.name not in existing], months)
    for definition in functions:
        if definition.name in existing:
            _create_function(cursor, definition)
            _drop_overloads(cursor, definition)
    cursor.execute("SET LOCAL check_function_bodies = on")
    _run_all(cursor, changed, months)
    cursor.execute(RECORD, [[getattr(each, part) for each in changed] for part in ("key", "file", "sha256")])
    _drop(cursor, applied.keys() - defined.keys(), months)
    return changed


def _run_all(cursor: CursorWrapper, definitions: Sequence[Definition], months: Months) -> None:
    """Run the definitions in one round trip: an empty database takes hundreds. Where that fails, run them one by one
    for the file and the line.

    Raises SqlFileError.
    """
    statements = [statement for each in definitions for statement in _statements(each, months)]
    if not statements:
        return
    try:
        with transaction.atomic(using=cursor.db.alias):
            cursor.execute("\n;\n".join(statements))
    except DatabaseError as error:
        if isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
            raise
        for definition in definitions:
            _run(cursor, definition, months)


def _create_function(cursor: CursorWrapper, definition: Definition) -> None:
    """Create or replace a function.

    PostgreSQL replaces none that returns something else or has an argument of another name: it is
    dropped first, unless something depends on it. Raises SqlFileError.
    """
    try:
        with transaction.atomic(using=cursor.db.alias):
            _run(cursor, definition, {})
    except SqlFileError as error:
        if not isinstance(error.__cause__, DatabaseError) or sqlstate(error.__cause__) != CANNOT_REPLACE:
            raise
        cursor.execute(OVERLOADS, [definition.name, 0])
        drops = "; ".join(f"DROP FUNCTION {signature}" for (signature,) in cursor.fetchall())
        _run(cursor, replace(definition, text=f"{drops}; {definition.text}"), {})


def _run(cursor: CursorWrapper, definition: Definition, months: Months) -> None:
    """Run one definition. Raises SqlFileError."""
    try:
        for statement in _statements(definition, months):
            cursor.execute(statement)
    except DatabaseError as error:
        cause = error.__cause__
        if not isinstance(cause, psycopg.Error) or isinstance(cause, LockNotAvailable | DeadlockDetected):
            raise
        raise SqlFileError(f"{definition.file}:{_line(definition, cause)}: {cause}") from error


def _statements(definition: Definition, months: Months) -> Iterator[str]:
    if definition.kind != "trigger":
        yield definition.text
        return
    tables = [definition.table]
    if FOR_EACH_STATEMENT in definition.text:
        tables += months.get(definition.table, [])
    for table in tables:
        if definition.text.startswith("CREATE CONSTRAINT"):  # which does not support OR REPLACE
            yield f"DROP TRIGGER IF EXISTS {definition.name} ON {table}"
        yield re.sub(rf" ON {definition.table}\b", f" ON {table}", definition.text, count=1)


def _line(definition: Definition, error: psycopg.Error) -> int:
    """Return the line of the file that the error refers to, or that of the definition where it names none."""
    if position := error.diag.statement_position:
        return definition.line + definition.text.count("\n", 0, int(position) - 1)
    if found := re.search(r"near line (\d+)|at line (\d+)", error.diag.context or ""):
        body = definition.text.count("\n", 0, definition.text.find("$$"))
        return definition.line + body + int(found[1] or found[2]) - 1
    return definition.line


def _drop_overloads(cursor: CursorWrapper, definition: Definition) -> None:
    """Drop overloads of this function with other arguments, which `CREATE OR REPLACE` leaves in place."""
    cursor.execute(OVERLOADS, [definition.name, 1])
    for (signature,) in cursor.fetchall():
        cursor.execute(f"DROP FUNCTION {signature}")


def _drop(cursor: CursorWrapper, keys: Iterable[str], months: Months) -> None:
    """Drop objects that no file defines any more, triggers first, and delete their rows."""
    for key in sorted(keys, reverse=True):
        kind, name, *rest = key.split(" ")
        if kind == "trigger":
            table = rest[-1]
            for each in [table, *months.get(table, [])]:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {each}")
        else:
            cursor.execute(f"DROP {kind.upper()} IF EXISTS {name}")
        cursor.execute("DELETE FROM sql_object WHERE name = %s", [key])
