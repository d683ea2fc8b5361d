"""Migrations run while the version before them serves: unsafe ones are found, and none queues in front of play."""

import subprocess
import sys

import pytest
from django.apps import apps
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.start.support import PROJECT, environment
from tools.check_migrations import CODE, SEVERAL, TIMEOUT, WRITTEN, faults


@pytest.fixture(scope="module")
def before() -> ProjectState:
    """The house as it is."""
    return ProjectState.from_apps(apps)


def rules(before: ProjectState, *operations: Operation, is_atomic: bool = True) -> set[str]:
    """What is found of a migration of games that does this."""
    planted = migrations.Migration("0999_planted", "games")
    planted.operations, planted.atomic = list(operations), is_atomic  # type: ignore[misc]
    return {fault.rule for fault in faults(planted, before)}


def sql(text: str) -> Operation:
    return migrations.RunSQL(text, migrations.RunSQL.noop)


UNSAFE = {
    "a column is dropped": (migrations.RemoveField("table", "name"), "ban-drop-column"),
    "a column is dropped in SQL": (sql("ALTER TABLE games_table DROP COLUMN name"), "ban-drop-column"),
    "a table is dropped": (migrations.DeleteModel("favouritetable"), "ban-drop-table"),
    "a function is dropped": (sql("DROP FUNCTION wallet_post(jsonb)"), "ban-drop-function"),
    "a column that must be filled": (
        sql("ALTER TABLE games_table ADD COLUMN colour text NOT NULL"),
        "adding-required-field",
    ),
    "a column becomes one that must be filled": (
        sql("ALTER TABLE games_table ALTER COLUMN name SET NOT NULL"),
        "adding-not-nullable-field",
    ),
    "a column of another name": (migrations.RenameField("table", "name", "title"), "renaming-column"),
    "a table of another name": (migrations.AlterModelTable("table", "games_desk"), "renaming-table"),
    "a column of another type": (
        migrations.AlterField("table", "name", models.IntegerField()),
        "changing-column-type",
    ),
    "an index that holds writers up": (
        migrations.AddIndex("round", models.Index(fields=["id"], name="planted")),
        "require-concurrent-index-creation",
    ),
    "a constraint that reads the whole table": (
        sql("ALTER TABLE games_round ADD CONSTRAINT planted CHECK (id IS NOT NULL)"),
        "constraint-missing-not-valid",
    ),
    "a reference that reads the whole table": (
        sql("ALTER TABLE games_round ADD CONSTRAINT planted FOREIGN KEY (table_id) REFERENCES games_table (id)"),
        "adding-foreign-key-constraint",
    ),
    "rows are rewritten": (sql("UPDATE wallet_account SET kind = kind"), WRITTEN),
    "it waits for its locks as long as it likes": (sql("SET LOCAL lock_timeout = 0"), TIMEOUT),
    "nobody has read what it does": (migrations.RunPython(migrations.RunPython.noop), CODE),
}


@pytest.mark.parametrize("what", UNSAFE)
def test_a_migration_is_found_that_the_version_before_it_could_not_bear(before, what):
    operation, rule = UNSAFE[what]
    assert rule in rules(before, operation)


def test_one_that_only_adds_is_let_through(before):
    added = migrations.CreateModel(
        "Colour",
        [("id", models.BigAutoField(primary_key=True)), ("table", models.ForeignKey("games.Table", models.PROTECT))],
    )
    assert rules(before, added) == set()
    assert rules(before, migrations.AddField("table", "colour", models.CharField(max_length=20, null=True))) == set()
    assert (
        rules(before, migrations.AddField("table", "colour", models.CharField(max_length=20, db_default=""))) == set()
    )
    index = AddIndexConcurrently("round", models.Index(fields=["id"], name="planted"))
    assert rules(before, index, is_atomic=False) == set()
    concurrently = sql("CREATE INDEX CONCURRENTLY IF NOT EXISTS planted ON games_round (id)")
    both = [migrations.AddField(each, "colour", models.IntegerField(null=True)) for each in ("table", "round")]
    assert rules(before, *both) == {SEVERAL}
    assert rules(before, *both, is_atomic=False) == set()
    assert rules(before, concurrently, is_atomic=False) == set()
    assert rules(before, concurrently) == {"ban-concurrent-index-creation-in-transaction"}


def test_those_that_there_are_are_safe_or_say_why_not():
    done = subprocess.run(
        [sys.executable, "-m", "tools.check_migrations"],
        cwd=PROJECT,
        env=environment(PROJECT / "var"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
