"""Readiness of a web process, and health of each process of the house."""

from http import HTTPStatus

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, connections
from django.db.migrations.loader import MigrationLoader

from ops import beat, readiness
from ops.beat import Turn
from ops.management.commands import healthy
from ops.readiness import NO_BROKER, NO_DATABASE, OLDER_TABLES, STOPPING, Readiness, ReadinessMonitor
from tests.harness.databases import Database
from tests.people import a_visitor

NOBODY = "redis+socket:///nowhere/nobody.sock"


def fail(*args: object, **kwargs: object) -> None:
    raise DatabaseError


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> ReadinessMonitor:
    """The watch of a process that has just started."""
    monkeypatch.setattr("casino.views.MONITOR", made := ReadinessMonitor())
    return made


@pytest.mark.django_db
class TestReady:
    def test_a_process_whose_house_is_whole_is_ready(self, watch):
        answer = a_visitor().get("/readyz")
        assert (answer.status_code, answer.text) == (HTTPStatus.OK, "ready\n")
        assert "no-store" in answer["Cache-Control"]

    def test_it_expects_the_migrations_that_django_would_run(self):
        assert readiness.expected() == MigrationLoader(connection).disk_migrations.keys()

    def test_it_is_not_ready_on_tables_older_than_itself_and_is_on_newer_ones(self, monkeypatch):
        known = readiness.expected()
        monkeypatch.setattr(readiness, "expected", lambda: known | {("games", "9999_from_tomorrow")})
        assert readiness.check_readiness().faults == (OLDER_TABLES,)
        monkeypatch.setattr(readiness, "expected", lambda: known - {("audit", "0001_initial")})
        assert readiness.check_readiness() == Readiness()

    def test_it_is_not_ready_without_the_database(self, watch, monkeypatch):
        monkeypatch.setattr(connection, "cursor", fail)
        answer = a_visitor().get("/readyz")
        assert (answer.status_code, answer.text) == (HTTPStatus.SERVICE_UNAVAILABLE, f"not ready\n{NO_DATABASE}\n")

    def test_without_the_broker_it_serves_what_it_can(self, watch, settings):
        settings.CELERY_BROKER_URL = NOBODY
        answer = a_visitor().get("/readyz")
        assert (answer.status_code, answer.text) == (HTTPStatus.OK, f"degraded\n{NO_BROKER}\n")

    def test_constant_requests_cost_the_database_nothing(self, watch, django_assert_num_queries):
        watch.now()
        with django_assert_num_queries(0):
            assert watch.now() == Readiness()

    def test_it_is_not_ready_after_a_stop_signal(self, watch):
        watch.begin_to_stop()
        answer = a_visitor().get("/readyz")
        assert (answer.status_code, answer.text) == (HTTPStatus.SERVICE_UNAVAILABLE, f"not ready\n{STOPPING}\n")


def test_tables_that_were_never_made_are_older(cloned_db: Database, owner):
    owner.execute("ALTER TABLE django_migrations RENAME TO elsewhere")
    assert readiness.check_readiness().faults == (OLDER_TABLES,)


class TestHealthy:
    @pytest.mark.parametrize(
        ("role", "reason"),
        [
            ("web", "web does not answer at port 1: "),
            ("worker", "the broker is not reachable: "),
            ("signer", "the signer does not answer at /nowhere/socket: "),
        ],
    )
    def test_says_what_is_not_there_and_ends_with_a_fault(self, settings, role, reason):
        settings.PORT, settings.CELERY_BROKER_URL, settings.AUDIT_SIGNER = "1", NOBODY, "/nowhere/socket"
        with pytest.raises(CommandError, match=reason):
            call_command("healthy", role)

    def test_a_signer_at_its_socket_is_well(self, signed, capsys):
        call_command("healthy", "signer")
        assert capsys.readouterr().out == "signer: signed 0 events\n"

    def test_beat_is_active_or_standby_and_is_known_by_its_machine(self, cloned_db, monkeypatch):
        with pytest.raises(healthy.Unwell, match="no beat is active or standing by on this host"):
            healthy.clock()
        turn = Turn(connections["default"].settings_dict)
        turn.wait(print)
        try:
            assert healthy.clock() == "beat: active"
            monkeypatch.setattr(healthy, "LONGEST_TICK", -1)
            with pytest.raises(healthy.Unwell, match="beat has done nothing for 0 seconds"):
                healthy.clock()
            monkeypatch.setattr(beat, "name", lambda: "sabot beat elsewhere")
            with pytest.raises(healthy.Unwell, match="no beat is active or standing by on this host"):
                healthy.clock()
        finally:
            turn.connection.close()
