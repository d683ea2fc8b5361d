"""Migrations run while the previous release serves: unsafe ones are found, and none blocks play."""

import subprocess
import sys

import pytest
from django.apps import apps
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.harness.sweeps import sample
from tests.start.support import PROJECT, environment
from tools.check_migrations import faults
from tools.migration_rules import (
    AGAIN,
    CODE,
    FUNCTION,
    LOCKED,
    NARROWER,
    RIGHTS,
    RUN,
    SEVERAL,
    TIMEOUT,
    TRIGGER,
    UNINDEXED,
    WRITTEN,
    statements,
)


@pytest.fixture(scope="module")
def before() -> ProjectState:
    """The current state of the models."""
    return ProjectState.from_apps(apps)


def rules(before: ProjectState, *operations: Operation, is_atomic: bool = True) -> set[str]:
    """Return the rules that a migration of games with these operations violates."""
    planted = migrations.Migration("0999_planted", "games")
    planted.operations, planted.atomic = list(operations), is_atomic  # type: ignore[misc]
    return {fault.rule for fault in faults(planted, before)}


def sql(text: str) -> Operation:
    return migrations.RunSQL(text, migrations.RunSQL.noop)


def unread(apps: object, editor: object) -> None:
    pytest.fail("a reader of a migration does not run it")


class Unread(Operation):
    """An operation without readable SQL."""

    def state_forwards(self, app_label: str, state: object) -> None:
        pass

    def database_forwards(self, app_label: str, schema_editor: object, from_state: object, to_state: object) -> None:
        unread(app_label, schema_editor)


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
    "a program stands in another operation": (
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.SeparateDatabaseAndState(database_operations=[migrations.RunPython(unread)])
            ]
        ),
        CODE,
    ),
    "an operation of our own": (Unread(), CODE),
    "a trigger comes": (
        sql("CREATE TRIGGER planted BEFORE INSERT ON games_round FOR EACH ROW EXECUTE FUNCTION games_keep_shoe()"),
        TRIGGER,
    ),
    "a trigger goes": (sql("DROP TRIGGER IF EXISTS games_shoe_is_kept ON games_shoe"), TRIGGER),
    "a trigger sleeps": (sql("ALTER TABLE games_shoe DISABLE TRIGGER games_shoe_is_kept"), TRIGGER),
    "a trigger of everything": (
        sql("CREATE EVENT TRIGGER planted ON ddl_command_start EXECUTE FUNCTION f()"),
        TRIGGER,
    ),
    "a function is another one": (
        sql("CREATE OR REPLACE FUNCTION wallet_post(journals jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $1 $$"),
        FUNCTION,
    ),
    "a function is called otherwise": (sql("ALTER FUNCTION wallet_post(jsonb) RENAME TO wallet_post_old"), FUNCTION),
    "rights are taken": (sql("REVOKE SELECT ON games_table FROM sabot_app"), RIGHTS),
    "rights are taken of a function": (sql("REVOKE ALL ON FUNCTION wallet_post FROM sabot_app"), RIGHTS),
    "rows are hidden": (sql("ALTER TABLE games_table ENABLE ROW LEVEL SECURITY"), RIGHTS),
    "somebody else owns it": (sql("ALTER TABLE games_table OWNER TO postgres"), RIGHTS),
    "a table is locked": (sql("LOCK TABLE wallet_journal IN SHARE MODE"), LOCKED),
    "rows are refused that come from now on": (
        sql("ALTER TABLE games_round ADD CONSTRAINT planted CHECK (false) NOT VALID"),
        NARROWER,
    ),
    "rows are refused by a check without a name": (
        sql("ALTER TABLE games_round ADD CHECK (false) NOT VALID"),
        NARROWER,
    ),
    "what is there may not come twice": (
        sql("CREATE UNIQUE INDEX CONCURRENTLY planted ON games_round (table_id)"),
        NARROWER,
    ),
    "a column that must be filled loses its default": (
        migrations.AddField("table", "colour", models.CharField(max_length=20, default="red")),
        NARROWER,
    ),
    "an index goes": (sql("DROP INDEX CONCURRENTLY IF EXISTS games_round_table"), UNINDEXED),
    "rows are rewritten in the second statement": (
        sql("-- what it is for;\nSELECT 1; UPDATE wallet_account SET kind = kind"),
        WRITTEN,
    ),
    "rows are rewritten in a query": (
        sql("WITH gone AS (DELETE FROM games_round RETURNING id) SELECT count(*) FROM gone"),
        WRITTEN,
    ),
    "rows are rewritten where they are there": (
        sql("INSERT INTO games_table (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET name = 'x'"),
        WRITTEN,
    ),
    "rows are rewritten in a block": (sql("DO $do$ BEGIN UPDATE wallet_account SET kind = kind; END $do$"), WRITTEN),
    "rows are rewritten by what a block makes up": (
        sql("DO $do$ BEGIN EXECUTE format('DELETE FROM %I', 'games_round'); END $do$"),
        WRITTEN,
    ),
    "rights are taken in a block": (sql("DO 'BEGIN REVOKE ALL ON games_table FROM sabot_app; END'"), RIGHTS),
    "a block does whatever it does": (sql("DO $$ BEGIN PERFORM 1; END $$"), CODE),
    "a function of ours is run": (sql("SELECT audit_keep_months('audit_event', 1)"), RUN),
    "a function of ours is run in a block": (sql("DO $$ BEGIN PERFORM public.audit_open_month('a', 1); END $$"), RUN),
    "a function that was just made is run": (
        sql("CREATE FUNCTION planted() RETURNS void LANGUAGE sql AS $$ DELETE FROM games_round $$; SELECT planted();"),
        RUN,
    ),
}


@pytest.mark.parametrize("what", sample(UNSAFE, 4))
def test_a_migration_is_found_that_the_version_before_it_could_not_bear(before, what):
    operation, rule = UNSAFE[what]
    assert rule in rules(before, operation)


@pytest.mark.sweep
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
    assert rules(before, sql("DROP INDEX CONCURRENTLY IF EXISTS planted"), index, is_atomic=False) == set()
    concurrently = sql("CREATE INDEX CONCURRENTLY IF NOT EXISTS planted ON games_round (id)")
    both = [migrations.AddField(each, "colour", models.IntegerField(null=True)) for each in ("table", "round")]
    assert rules(before, *both) == {SEVERAL}
    assert rules(before, sql("ALTER TABLE games_table ADD COLUMN colour text"), is_atomic=False) == set()
    assert rules(before, sql("DROP INDEX IF EXISTS planted"), concurrently, is_atomic=False) == {
        "require-concurrent-index-deletion"
    }
    assert rules(before, concurrently) == {"ban-concurrent-index-creation-in-transaction"}


def test_what_is_done_to_a_table_or_a_function_that_is_made_with_it_is_let_through(before):
    script = """
    -- A table; and what guards it.
    CREATE TABLE games_colour (id bigint PRIMARY KEY, name text);
    CREATE FUNCTION games_refuse_colour() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM games_round;  -- later
        RETURN NULL;
    END $$;
    REVOKE ALL ON FUNCTION games_refuse_colour FROM PUBLIC;
    CREATE TRIGGER games_colour_is_kept BEFORE UPDATE OR DELETE ON games_colour
        FOR EACH STATEMENT EXECUTE FUNCTION games_refuse_colour();
    CREATE UNIQUE INDEX games_colour_name ON games_colour (name);
    ALTER TABLE public.games_colour ADD CONSTRAINT games_colour_named CHECK (name <> '; UPDATE games_round') NOT VALID;
    INSERT INTO games_colour (id, name) VALUES (1, 'UPDATE; DELETE');
    """
    assert rules(before, sql(script)) == set()
    others = script.replace("ON games_colour", "ON games_shoe").replace("TABLE public.games_colour", "TABLE games_shoe")
    assert rules(before, sql(others)) >= {TRIGGER, NARROWER}


@pytest.mark.parametrize(
    "first",
    [
        "CREATE FUNCTION planted() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$",
        "CREATE TABLE planted (id bigint PRIMARY KEY)",
        "ALTER TABLE games_table ADD COLUMN colour text",
        "ALTER TABLE games_table ADD CONSTRAINT planted CHECK (id > 0) NOT VALID",
        "CREATE INDEX CONCURRENTLY planted ON games_table (id)",
    ],
)
def test_a_migration_that_could_not_be_begun_again_is_found(before, first):
    second = sql("ALTER TABLE games_round ADD COLUMN IF NOT EXISTS colour text")
    assert AGAIN in rules(before, sql(first), second, is_atomic=False)
    assert AGAIN not in rules(before, sql(first), second)  # all or nothing
    for name, again in (("FUNCTION", "CREATE OR REPLACE FUNCTION"), ("TABLE", "CREATE TABLE IF NOT EXISTS")):
        first = first.replace(f"CREATE {name}", again)
    first = first.replace("COLUMN", "COLUMN IF NOT EXISTS")
    drop = "DROP INDEX CONCURRENTLY" if "INDEX" in first else "ALTER TABLE games_table DROP CONSTRAINT"
    gone = sql(f"{drop} IF EXISTS planted")
    assert AGAIN not in rules(before, gone, sql(first), second, is_atomic=False)


@pytest.mark.sweep
def test_an_index_alone_may_stay_behind_half_made(before):
    index = AddIndexConcurrently("round", models.Index(fields=["id"], name="planted"))
    assert rules(before, index, is_atomic=False) == {AGAIN}
    passed_over = sql("CREATE INDEX CONCURRENTLY IF NOT EXISTS planted ON games_round (id)")
    assert rules(before, passed_over, is_atomic=False) == {AGAIN}


def test_a_migration_that_holds_two_tables_by_triggers_is_found(before):
    both = [
        sql(f"CREATE TRIGGER planted AFTER INSERT ON {table} FOR EACH STATEMENT EXECUTE FUNCTION f()")
        for table in ("games_round", "wallet_journal")
    ]
    assert rules(before, *both) == {TRIGGER, SEVERAL}
    assert rules(before, *both, is_atomic=False) == {TRIGGER, AGAIN}


@pytest.mark.sweep
def test_a_foreign_key_that_goes_is_found_without_a_server_that_knows_its_name(before):
    free = migrations.AlterField(
        "livetable", "table", models.ForeignKey("games.Table", models.PROTECT, db_constraint=False)
    )
    assert "ban-drop-constraint" in rules(before, free)


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';''; '; SELECT E'\\';'", ["SELECT ';''; '", "SELECT E'\\';'"]),
        ('SELECT "a;b" FROM c -- d; e\n; F', ['SELECT "a;b" FROM c', "F"]),
        ("/* a; /* b; */ c; */ SELECT 1", ["SELECT 1"]),
        ("DO $$ a; $x$ b; $x$ $$; DO $body$ a; $$ b; $body$", ["DO $$ a; $x$ b; $x$ $$", "DO $body$ a; $$ b; $body$"]),
        ("SELECT $1; SELECT a$b$; SELECT c$b$", ["SELECT $1", "SELECT a$b$", "SELECT c$b$"]),
        (" ; -- nothing\n ;", []),
    ],
)
def test_a_script_is_split_into_its_statements(script, parts):
    assert [statement.text for statement in statements(script)] == parts


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
