"""Check that new migrations are safe while the previous release is running: `python -m
tools.check_migrations`.

Every migration after the baseline in ``tools/migrations.toml`` is rendered as SQL. Squawk checks
the SQL; further rules are here. No database is used. The exit status is 1 if something is found
that the file does not except, with a reason.
"""

import copy
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import django
from django.db import connections
from django.db.migrations import Migration, RunPython, SeparateDatabaseAndState
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Model

from tools.migration_rules import CODE, SEVERAL, Found, Statement, statements

SAID: Final = Path(__file__).with_name("migrations.toml")
SQUAWK: Final = Path(sys.executable).with_name("squawk")
POSTGRESQL: Final = "18"
# Matters of style, and rules that `manage.py migrate` covers: it never waits long for a lock.
LEFT_OUT: Final = (
    "ban-char-field",
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "prefer-identity",
    "prefer-robust-stmts",
    "prefer-text-field",
    "require-lock-timeout",
    "require-statement-timeout",
    "require-timeout-settings",
)
# Optional rules of squawk that are enabled.
ALSO: Final = (
    "ban-disable-trigger",
    "ban-drop-extension",
    "ban-drop-function",
    "ban-drop-sequence",
    "ban-drop-type",
    "ban-drop-view",
    "ban-set-schema",
    "renaming-object",
)
DJANGO: Final = "django."


@dataclass(frozen=True)
class Fault:
    """A statement of a migration that the previous release may not tolerate."""

    migration: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.migration}: {self.rule}: {self.message}"


def newer(loader: MigrationLoader, baseline: Mapping[str, str]) -> Iterator[Migration]:
    """Yield our migrations after the baseline, in the order of the graph."""
    known: set[tuple[str, str]] = set()
    for node in baseline.items():
        known |= set(loader.graph.forwards_plan(node))
    for node in loader.graph._generate_plan(loader.graph.leaf_nodes(), at_end=True):
        if node[0] in baseline and node not in known:
            yield loader.graph.nodes[node]


def faults(migration: Migration, before: ProjectState) -> Iterator[Fault]:
    """Yield the faults of a migration that runs on the state *before* it."""
    name = f"{migration.app_label}.{migration.name}"
    for operation in flat(migration.operations):
        if not is_read(operation):
            yield Fault(name, CODE, "a program is run that nobody has read here: say in the exceptions what it does")
    found, said = Found(), sql_of(migration, before)
    yield from (Fault(name, rule, message) for rule, message in found.find_faults(said, is_atomic=migration.atomic))
    if migration.atomic and len(found.held) > 1:
        tables = ", ".join(sorted(found.held))
        yield Fault(name, SEVERAL, f"play may hold one of {tables}, and want another: a deadlock")
    texts = [f"{statement.text};" for statement in said]
    yield from (Fault(name, rule, message) for rule, message in squawk(texts, is_atomic=migration.atomic))


def flat(operations: Sequence[Operation]) -> Iterator[Operation]:
    """Yield every operation that changes the database, nested ones included."""
    for operation in operations:
        if isinstance(operation, SeparateDatabaseAndState):
            yield from flat(operation.database_operations)
        else:
            yield operation


def is_read(operation: Operation) -> bool:
    """Return whether an operation is fully rendered as SQL, like Django's own operations except
    RunPython.
    """
    return not isinstance(operation, RunPython) and type(operation).__module__.startswith(DJANGO)


def without_programs(operations: Sequence[Operation]) -> Iterator[Operation]:
    """Yield the operations without nested programs, which would be executed to render their SQL."""
    for operation in operations:
        if isinstance(operation, SeparateDatabaseAndState):
            operation = copy.copy(operation)  # noqa: PLW2901  (what is there stays as it is)
            operation.database_operations = list(without_programs(operation.database_operations))
        if is_read(operation):
            yield operation


def sql_of(migration: Migration, before: ProjectState) -> list[Statement]:
    """Return the SQL statements of a migration, without its programs."""
    line = connections["owner"]

    class Writer(line.SchemaEditorClass):  # type: ignore[name-defined]  # of the backend in use
        """Renders values into statements without asking a server."""

        def execute(self, sql: Any, params: Sequence[Any] | None = ()) -> None:
            """Collect a statement."""
            said = str(sql) if not params else str(sql) % tuple(map(self.quote_value, params))
            self.collected_sql.append(said.rstrip(";") + ";")

        def _constraint_names(
            self, model: type[Model], column_names: Sequence[str] | None = None, **what: Any
        ) -> list[str]:
            """Return a constraint name without asking a server; the migration then drops it."""
            return ["_".join([model._meta.db_table, *(column_names or ()), *sorted(what)])]

    written = copy.copy(migration)
    written.operations = list(without_programs(migration.operations))  # type: ignore[misc]  # as Django's own does
    with Writer(line, collect_sql=True, atomic=False) as writer:
        written.apply(before.clone(), writer, collect_sql=True)
    return list(statements("\n".join(writer.collected_sql)))


def squawk(statements: Sequence[str], *, is_atomic: bool) -> Iterator[tuple[str, str]]:
    """Yield rule and message of each finding of squawk."""
    rules = (f"--exclude={','.join(LEFT_OUT)}", f"--include={','.join(ALSO)}")
    options = [*rules, f"--pg-version={POSTGRESQL}", "--reporter=json"]
    text = "\n".join(["BEGIN;", *statements, "COMMIT;"] if is_atomic else statements)
    done = subprocess.run(
        [SQUAWK, *options, "--stdin-filepath=migration.sql"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise RuntimeError(done.stderr)
    for each in json.loads(done.stdout):
        yield each["rule_name"], each["message"]


def main() -> int:
    """Check all newer migrations. Return the exit status."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    django.setup()
    said = tomllib.loads(SAID.read_text())
    loader = MigrationLoader(None)
    found: list[Fault] = []
    for migration in newer(loader, said["baseline"]):
        node = (migration.app_label, migration.name)
        found += faults(migration, loader.project_state(node, at_end=False))
    excepted = said.get("excepted", {})
    left = [each for each in found if each.rule not in excepted.get(each.migration, {})]
    for fault in left:
        print(fault)
    unused = [
        f"{name}: {rule} is excepted in {SAID.name}, and not found"
        for name, rules in excepted.items()
        for rule in rules
        if (name, rule) not in {(each.migration, each.rule) for each in found}
    ]
    print(*unused, sep="\n", end="\n" if unused else "")
    return 1 if left or unused else 0


if __name__ == "__main__":
    sys.exit(main())
