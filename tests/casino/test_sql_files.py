"""The files in ``sql/`` are in force: `manage.py migrate` applies changed ones and lists them."""

import re
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import modify_settings

from ops import sql_files
from tests.harness.product import modules
from tests.harness.sweeps import sample

FUNCTION = """-- Adds one.
CREATE OR REPLACE FUNCTION planted_sum(n integer) RETURNS integer
LANGUAGE sql AS $$ SELECT n + 1 $$;
"""
REFUSE = """CREATE OR REPLACE FUNCTION planted_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'planted';
END $$;
"""
TRIGGER = """CREATE OR REPLACE TRIGGER planted_is_kept BEFORE UPDATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION planted_refuse();
"""
ON_TABLES = "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'planted_is_kept' ORDER BY 1"
MONTHS = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'audit_event'::regclass"
DEFINED = """
    SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION
    SELECT format('trigger %s on %s', tgname, tgrelid::regclass) FROM pg_trigger
    JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND NOT relispartition AND relkind <> 'v'  -- tests write bets through a view
"""


def names(rows: list[tuple[str]]) -> list[str]:
    return [name for (name,) in rows]


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the ``sql/`` folder of an app that is installed for this test."""
    folder = tmp_path / "planted" / "sql"
    (folder / "functions").mkdir(parents=True)
    (tmp_path / "planted" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with modify_settings(INSTALLED_APPS={"append": "planted"}):
        yield folder
    sys.modules.pop("planted", None)


def migrate() -> str:
    """Run `manage.py migrate` and return its output."""
    printed = StringIO()
    call_command("migrate", stdout=printed, interactive=False)
    return printed.getvalue()


def test_every_function_and_trigger_in_the_database_is_defined_in_a_file(cloned_db, owner):
    kept = {each.key for each in sql_files.definitions() if each.kind != "index"}
    assert set(names(owner.execute(DEFINED).fetchall())) == kept


def test_migrate_applies_what_has_changed_and_says_which(cloned_db, owner, planted):
    assert "Applied" not in migrate()
    file = planted / "functions" / "sums.sql"
    file.write_text(FUNCTION)
    assert migrate().rstrip().endswith("Applied planted/sql/functions/sums.sql: planted_sum")
    file.write_text(FUNCTION.replace("Adds one.", "Adds the number one."))
    assert "Applied" not in migrate()  # a comment is not part of a definition
    file.write_text(FUNCTION.replace("n + 1", "n + 2"))
    assert "planted/sql/functions/sums.sql: planted_sum" in migrate()
    assert owner.execute("SELECT planted_sum(1)").fetchone() == (3,)


def test_what_no_file_defines_any_more_is_dropped(cloned_db, owner, planted):
    function, trigger = planted / "functions" / "refusals.sql", planted / "triggers.sql"
    function.write_text(REFUSE)
    trigger.write_text(TRIGGER)
    migrate()
    assert owner.execute(ON_TABLES).fetchall()
    function.unlink()
    trigger.unlink()
    migrate()
    assert owner.execute(ON_TABLES).fetchall() == []
    assert owner.execute("SELECT to_regproc('planted_refuse')").fetchone() == (None,)


@pytest.mark.sweep
def test_a_trigger_for_each_statement_is_on_every_month(cloned_db, owner, planted):
    (planted / "functions" / "refusals.sql").write_text(REFUSE)
    (planted / "triggers.sql").write_text(TRIGGER)
    migrate()
    months = names(owner.execute(MONTHS).fetchall())
    assert len(months) > 3
    assert names(owner.execute(ON_TABLES).fetchall()) == sorted(["audit_event", *months])


@pytest.mark.sweep
def test_a_function_that_takes_other_arguments_replaces_the_first(cloned_db, owner, planted):
    file = planted / "functions" / "sums.sql"
    signatures = "SELECT oid::regprocedure::text FROM pg_proc WHERE proname = 'planted_sum'"
    for arguments in ("n integer", "n integer, m integer", "n bigint"):
        function = FUNCTION.replace("(n integer)", f"({arguments})").replace("n + 1", "1")
        file.write_text(f"{function}REVOKE ALL ON FUNCTION planted_sum FROM PUBLIC;\n")
        migrate()
        (signature,) = names(owner.execute(signatures).fetchall())
        assert signature.count("integer") == arguments.count("integer")


def test_a_function_with_another_result_or_other_argument_names_is_recreated(cloned_db, owner, planted):
    file, returns = planted / "functions" / "sums.sql", "SELECT pg_get_function_result('planted_sum'::regproc)"
    for body in (
        FUNCTION,
        FUNCTION.replace("RETURNS integer", "RETURNS bigint"),
        FUNCTION.replace("n integer", "m integer"),
    ):
        file.write_text(body.replace("n + 1", "1"))
        assert "planted_sum" in migrate()
    assert owner.execute(returns).fetchone() == ("integer",)


def test_a_function_that_something_depends_on_is_not_recreated(cloned_db, owner, planted):
    file = planted / "functions" / "sums.sql"
    file.write_text(FUNCTION)
    migrate()
    owner.execute("CREATE VIEW planted AS SELECT planted_sum(1)")
    file.write_text(FUNCTION.replace("RETURNS integer", "RETURNS bigint"))
    with pytest.raises(CommandError, match=r"^planted/sql/functions/sums.sql:2: cannot drop function"):
        migrate()


@pytest.mark.parametrize(
    ("broken", "line", "reason"),
    sample(
        [
            (
                "CREATE OR REPLACE FUNCTION planted_b() RETURNS void LANGUAGE sql AS $$ SELECT\n  nothing\n$$;\n",
                6,
                "nothing",
            ),
            (REFUSE.replace("RAISE", "RAISED"), 7, "RAISED"),
            ("CREATE TABLE planted (id bigint);\n", 5, "neither a function, an index nor a trigger"),
            (REFUSE.replace("END $$;", "END $$"), 5, "unterminated dollar-quoted string"),
            (FUNCTION.partition("\n")[2], 5, "defined in planted/sql/functions/sums.sql:2 already"),
        ],
        1,
    ),
)
def test_a_file_that_cannot_be_applied_leaves_the_database_as_it_was(cloned_db, owner, planted, broken, line, reason):
    before = owner.execute("SELECT * FROM sql_object ORDER BY 1").fetchall()
    (planted / "functions" / "sums.sql").write_text(f"{FUNCTION}\n{broken}")
    with pytest.raises(CommandError, match=reason) as refused:
        migrate()
    assert str(refused.value).startswith(f"planted/sql/functions/sums.sql:{line}: ")
    assert owner.execute("SELECT * FROM sql_object ORDER BY 1").fetchall() == before
    assert owner.execute("SELECT to_regproc('planted_sum')").fetchone() == (None,)


def test_a_database_that_is_newer_than_the_program_is_refused(cloned_db, owner):
    owner.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('games', '0999_later', now())")
    with pytest.raises(CommandError, match=r"newer than this version\. Unknown migrations: games\.0999_later\."):
        migrate()


def test_the_kinds_of_limits_on_a_stake_are_written_once():
    files = [*Path().glob("*/sql/**/*.sql"), *(path for _, path in modules())]
    copies = [str(file) for file in files if re.search(r"\bstake\b\W{1,5}\bloss\b", file.read_text())]
    assert copies == ["wallet/sql/functions/limits.sql"]
