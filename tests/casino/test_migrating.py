"""Migrations of a newer release run while this one plays: the house stays open."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from io import StringIO

import psycopg
import pytest
from django.apps.registry import Apps
from django.contrib.postgres.operations import TrigramExtension
from django.core.management import call_command
from django.db import connections
from django.db.migrations import Migration, RunSQL, SeparateDatabaseAndState
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ModelState
from django.db.models import Model
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from audit import initial_migration
from games.models import Participation, SoloSeat
from ops import privileges, readiness
from ops.management.commands import migrate
from ops.postgresql.roles import GROUP
from tests.builders import a_player, a_table
from tests.harness.databases import Database, empty
from tests.harness.visitor import Visitor
from tests.start.support import SECONDS, wait_until
from tests.wallet import wholeness

RENDERED_AT_FIRST = 385  # models, where each migration is applied by itself
SENT_AT_FIRST = 200  # statements
DECLARED = """
SELECT attrelid::regclass::text,
    concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
        pg_get_expr(adbin, adrelid))
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND attnum > 0 AND NOT attisdropped
UNION SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
UNION SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION SELECT oid::regclass::text, relacl::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION SELECT oid::regclass::text, concat_ws(' ', relkind, reloptions, pg_get_partkeydef(oid)) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
UNION SELECT seqrelid::regclass::text, concat_ws(' ', seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin)
    FROM pg_sequence
UNION SELECT app, name FROM django_migrations
UNION SELECT app_label, codename FROM auth_permission JOIN django_content_type AS type ON type.id = content_type_id
"""
"""The declared objects of a database, by table; columns in any order."""
NEWER = {"contenttypes": "tests.newer.migrations"}
IS_WIDER = "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'games_table'::regclass AND attname = 'also')"
WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'games_table'::regclass)"


class Migrating:
    """`manage.py migrate` of a newer release, in its own thread."""

    def __init__(self) -> None:
        self.said = StringIO()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def is_under_way(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> None:
        """Wait for its end. Raises its error."""
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
        if self._error:
            raise self._error

    def _run(self) -> None:
        try:
            call_command("migrate", verbosity=0, stderr=self.said)
        except BaseException as error:  # noqa: BLE001  (the test is to see it)
            self._error = error
        finally:
            connections.close_all()


@pytest.fixture
def newer() -> Iterator[None]:
    with override_settings(MIGRATION_MODULES=NEWER):
        yield


def play(visitor: Visitor, player) -> None:
    """Play a round at a solo table and open its pages."""
    before = Participation.objects.filter(player=player).count()
    for action in ("bet:player", "deal"):
        seat = SoloSeat.objects.get(player=player, mode="R")
        assert seat.table.version
        form = {
            "action": action,
            "chip": 1000,
            "round_id": seat.round_id,
            "slip_version": seat.slip_version,
            "table_version": seat.table.version.number,
        }
        assert visitor.post("/en/table/baccarat/real/play/", form)[0] == HTTPStatus.OK  # type: ignore[arg-type]
    assert Participation.objects.filter(player=player).count() == before + 1
    for page in ("/en/", "/en/history/", "/en/cashier/"):
        assert visitor.get(page)[0] == HTTPStatus.OK


def test_play_goes_on_while_every_table_becomes_wider_and_afterwards(newer, cloned_db, start_server, owner):
    a_table()
    player = a_player(real=1_000_000)
    server = start_server()
    visitor = Visitor(server.url, player.user)
    assert visitor.get("/en/table/baccarat/real/")[0] == HTTPStatus.OK
    for _ in range(4):  # statements that the server has prepared by now
        play(visitor, player)
    migrating = Migrating()
    rounds = 0
    while migrating.is_under_way or rounds < 4:
        play(visitor, player)
        rounds += 1
    migrating.end()
    assert owner.execute(IS_WIDER).fetchone() == (True,)
    for _ in range(4):
        play(visitor, player)
    assert visitor.get("/readyz") == (HTTPStatus.OK, "ready\n")
    wholeness.assert_whole()
    assert "Traceback" not in server.printed()
    assert readiness.check_readiness().faults == ()


@contextmanager
def a_long_report(database: Database) -> Iterator[psycopg.Connection]:
    """A session with a long read of a table."""
    with psycopg.connect(database.web_url) as reader:
        reader.execute("SELECT count(*) FROM games_table")
        yield reader


def reads(database: Database, milliseconds: int) -> bool:
    """Return whether a player can read the table within this time."""
    with psycopg.connect(database.web_url, autocommit=True) as player:
        player.execute(f"SET statement_timeout = {milliseconds}")
        try:
            player.execute("SELECT count(*) FROM games_table")
        except psycopg.errors.QueryCanceled:
            return False
        return True


def test_a_migration_that_waits_for_a_table_holds_nobody_up(newer, cloned_db, owner):
    with a_long_report(cloned_db) as report:
        migrating = Migrating()
        wait_until(lambda: "trying again" in migrating.said.getvalue(), "it waits for ever")
        assert reads(cloned_db, 60_000)
        assert migrating.is_under_way
        report.rollback()
        migrating.end()
    assert owner.execute(IS_WIDER).fetchone() == (True,)


@pytest.mark.sweep
def test_without_an_end_to_its_patience_it_would(newer, cloned_db, owner, monkeypatch):
    monkeypatch.setattr(migrate, "LONGEST_WAIT", "0")
    with a_long_report(cloned_db) as report:
        migrating = Migrating()
        wait_until(lambda: owner.execute(WAITS).fetchone() == (True,), "it waits for nothing")
        assert not reads(cloned_db, 300)
        report.rollback()
        migrating.end()


@pytest.mark.sweep
def test_one_that_never_gets_its_table_is_given_up(newer, cloned_db, owner, monkeypatch):
    monkeypatch.setattr(migrate, "LONGEST", 0.0)
    with a_long_report(cloned_db), pytest.raises(migrate.CommandError, match="A table is in use"):  # type: ignore[attr-defined]
        call_command("migrate", verbosity=0, stderr=StringIO())
    assert owner.execute(IS_WIDER).fetchone() == (False,)


def test_the_version_that_serves_has_its_rights_all_the_time(cloned_db, owner, monkeypatch):
    asked = "SELECT has_table_privilege(%s, 'games_table', 'SELECT'), has_table_privilege(%s, 'wallet_hold', 'SELECT')"
    found = set()
    grant = privileges._grant

    def look(cursor, tables: Iterable[str]) -> None:
        found.add(owner.execute(asked, [GROUP, GROUP]).fetchone())
        grant(cursor, tables)

    monkeypatch.setattr(privileges, "_grant", look)
    call_command("migrate", verbosity=0)
    assert found == {(True, True)}


@pytest.fixture
def rendered(monkeypatch) -> list[str]:
    """The names of the models that are rendered."""
    names = []
    render = ModelState.render

    def note(state: ModelState, apps: Apps) -> type[Model]:
        names.append(state.name)
        return render(state, apps)

    monkeypatch.setattr(ModelState, "render", note)
    return names


def test_a_first_migration_renders_no_models_and_sends_few_statements(cloned_db, rendered):
    """Both were the most of it: 1,152 models and 3,659 statements."""
    with empty("first"), CaptureQueriesContext(connections["owner"]) as sent:
        call_command("migrate", verbosity=0)
    assert rendered == []
    assert len(sent) < SENT_AT_FIRST


@pytest.mark.parametrize(
    "operation",
    [
        RunSQL("SELECT 1"),
        SeparateDatabaseAndState(database_operations=[RunSQL("SELECT 1")]),
        TrigramExtension(),
    ],
)
def test_a_later_migration_with_what_is_in_no_model_is_applied_by_itself(operation):
    wider, more = (type("Later", (Migration,), {"operations": each}) for each in ([], [operation]))
    assert initial_migration.can_build([wider("0002_wider", "auth")])
    assert not initial_migration.can_build([more("0002_more", "auth")])


def test_a_first_migration_that_was_given_up_is_begun_again(cloned_db):
    with empty("begun"), connections["owner"].cursor() as cursor:
        MigrationRecorder(connections["owner"]).ensure_schema()
        call_command("migrate", verbosity=0)
        assert "games_table" in connections["owner"].introspection.table_names(cursor)


def test_a_migration_with_nothing_to_apply_renders_no_models(cloned_db, rendered):
    call_command("migrate", verbosity=0)
    assert rendered == []


def test_an_empty_database_gets_the_tables_that_migrations_one_by_one_make(cloned_db, rendered, monkeypatch):
    def made(name: str) -> set[tuple[str, str]]:
        with empty(name), connections["owner"].cursor() as cursor:
            call_command("migrate", verbosity=0)
            cursor.execute(DECLARED)
            found = set(cursor.fetchall())
            for table in connections["owner"].introspection.table_names(cursor):
                cursor.execute(f"SELECT count(*) FROM {table}")
                found.add((table, f"{cursor.fetchone()[0]} rows"))
            return found

    at_once = made("once")
    monkeypatch.setattr(initial_migration, "can_build", lambda _plan: False)
    one_by_one = made("each")
    assert at_once ^ one_by_one == set()
    assert len(at_once) > len(rendered) > 0
    assert len(rendered) < RENDERED_AT_FIRST
