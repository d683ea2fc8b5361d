"""A streaming replica serves the lobby and reports: never with old data, and failures are invisible
to users.
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import psycopg
import pytest
from django.db import Error, connection, connections

from audit import replica as reading
from audit.models import Report, ReportState
from audit.reports import runner
from audit.reports.heading import Head
from audit.reports.kinds import Answer
from audit.staff_text import english
from games.lobby.selectors import keep_table
from games.models import Table
from ops import readiness
from ops.metrics import House
from tests.audit.reporting import ROW, a_kind, asked, registered
from tests.builders import a_player, a_table
from tests.harness.databases import Database
from tests.harness.replica import Replica
from tests.people import a_visitor
from tests.start.support import wait_until

LONG = 1e6  # seconds of allowed replica lag
FEW = 20.0  # seconds; a page takes one on a busy machine


@pytest.fixture
def warnings(replica: Replica, settings) -> Iterator[list[tuple[str, str]]]:
    """The queries and the server that answered, with unlimited replica lag."""
    settings.REPLICA_LAG_SECONDS = LONG
    heard: list[tuple[str, str]] = []

    def hear(what: str, who: str) -> None:
        heard.append((what, who))

    reading.HEARD_BY.append(hear)
    yield heard
    reading.HEARD_BY.remove(hear)


OF_REPLICA = (reading.LOBBY, reading.ALIAS)
OF_PRIMARY = (reading.LOBBY, reading.PRIMARY)


def the_lobby(client=None) -> str:
    answer = (client or a_visitor()).get("/en/")
    assert answer.status_code == HTTPStatus.OK
    return str(answer.content.decode())


def is_listed(slug: str) -> bool:
    return f'id="table-{slug}"' in the_lobby()


def number_of_tables() -> int:
    return Table.objects.count()


class TestTheLobby:
    def test_is_what_the_replica_has(self, replica, warnings, cloned_db):
        a_table()
        replica.catch_up(cloned_db)
        assert is_listed("baccarat")
        with replica.behind():
            a_table("another")
            assert not is_listed("another")
        replica.catch_up(cloned_db)
        assert is_listed("another")
        assert warnings == [OF_REPLICA] * 3
        named = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'sabot_web'"
        assert replica.ask(named, cloned_db.name) == 1

    @pytest.mark.sweep
    def test_of_a_page_that_asks_by_itself_and_of_a_program_comes_from_there_too(self, replica, warnings, cloned_db):
        a_table()
        replica.catch_up(cloned_db)
        assert a_visitor().get("/en/lobby/now/").status_code == HTTPStatus.OK
        assert warnings == [OF_REPLICA]

    @pytest.mark.sweep
    def test_shows_what_the_player_has_just_chosen(self, replica, warnings, cloned_db):
        table, player = a_table(), a_player()
        replica.catch_up(cloned_db)
        with replica.behind():
            keep_table(player=player, table_id=table.pk, is_kept=True)
            visitor = a_visitor()
            visitor.force_login(player.user)
            assert 'aria-pressed="true"' in the_lobby(visitor)
        assert warnings == [OF_REPLICA]

    def test_is_the_primary_s_where_the_replica_is_too_far_behind(self, replica, warnings, settings):
        settings.REPLICA_LAG_SECONDS = 0
        with replica.behind():
            a_table("another")
            assert is_listed("another")
            lag = reading.MONITOR.lag()
        assert warnings == [OF_PRIMARY]
        assert lag
        assert lag > 0

    @pytest.mark.sweep
    def test_comes_from_the_replica_where_nothing_happened_for_long(self, replica, warnings, settings):
        settings.REPLICA_LAG_SECONDS = 0

        def is_level() -> bool:
            reading.MONITOR.forget()
            return reading.MONITOR.lag() == 0

        wait_until(is_level, "it is never level")  # others write to this server too

    def test_is_the_primary_s_while_the_replica_is_away_and_it_is_not_asked_again_at_once(
        self, replica, warnings, cloned_db, monkeypatch
    ):
        a_table()
        replica.catch_up(cloned_db)
        assert is_listed("baccarat")
        replica.stop()
        try:
            assert is_listed("baccarat")
            assert reading.MONITOR.lag() is None
            viewed: list[Any] = []
            monkeypatch.setattr(reading.ReplicaMonitor, "_measure", viewed.append)
            assert is_listed("baccarat")
            assert not viewed
            monkeypatch.undo()
        finally:
            replica.start()
        reading.MONITOR.forget()
        assert is_listed("baccarat")
        assert warnings == [OF_REPLICA, OF_PRIMARY, OF_PRIMARY, OF_REPLICA]

    @pytest.mark.sweep
    def test_waits_for_a_replica_that_says_nothing_no_longer_than_two_seconds(self, replica, warnings, cloned_db):
        a_table()
        replica.catch_up(cloned_db)
        assert is_listed("baccarat")
        with replica.frozen():
            began = time.monotonic()
            assert is_listed("baccarat")  # it was healthy a moment ago
            assert is_listed("baccarat")
            taken = time.monotonic() - began
        assert reading.PATIENCE <= taken < FEW
        assert warnings == [OF_REPLICA, OF_PRIMARY, OF_PRIMARY]

    @pytest.mark.sweep
    def test_is_asked_of_the_primary_where_the_replica_lacks_a_column_yet(self, replica, warnings, owner):
        with replica.behind():
            owner.execute("ALTER TABLE games_table ADD COLUMN colour text NOT NULL DEFAULT 'green'")
            found = reading.read(reading.LOBBY, lambda: asked_of(connection, "SELECT count(colour) FROM games_table"))
        assert found == 0
        assert warnings == [OF_PRIMARY]


def asked_of(line, question: str):
    with line.cursor() as cursor:
        cursor.execute(question)
        return cursor.fetchone()[0]


class TestNobody:
    def test_writes_there(self, replica, warnings):
        player = a_player()
        with pytest.raises(Error, match="read-only transaction"):
            reading.read(reading.LOBBY, lambda: keep_table(player=player, table_id=1, is_kept=False))
        assert warnings == []

    def test_reads_there_what_a_transaction_that_is_open_has_written(self, replica, warnings):
        from django.db import transaction

        with replica.behind(), transaction.atomic():
            a_table("another")
            assert reading.read(reading.LOBBY, number_of_tables) == 1
        assert warnings == [OF_PRIMARY]

    def test_takes_a_server_that_follows_nobody_for_a_replica(self, replica, warnings, cloned_db):
        connections[reading.ALIAS].close()
        del connections[reading.ALIAS]
        connections.settings[reading.ALIAS]["HOST"] = connections.settings["default"]["HOST"]
        assert reading.read(reading.LOBBY, number_of_tables) == 0
        assert warnings == [OF_PRIMARY]


def notes_of(report: Report) -> list[str]:
    assert report.head
    return [english(note) for note in Head.read(report.head).notes]


def made() -> Report:
    assert runner.make_open() == 1
    report = Report.objects.latest("pk")
    assert report.state == ReportState.READY, report.failure
    return report


def tables_now(asked_for) -> Answer:
    """Return a report with one row per table."""
    return Answer([ROW for _ in Table.objects.all()])


@pytest.fixture
def kind(replica: Replica) -> Iterator[None]:
    with registered(a_kind(answer=tables_now)):
        yield


class TestAReport:
    def test_is_made_of_what_the_replica_has_and_says_so(self, replica, warnings, kind):
        a_table()
        report = asked()
        report = made()
        assert warnings == [(reading.REPORT, reading.ALIAS)]
        assert [len(page.rows) for page in report.pages.all()] == [1]
        assert runner.OF_REPLICA in notes_of(report)
        assert report.made_at
        assert timedelta() <= report.made_at - report.asked_at < timedelta(minutes=5)

    def test_waits_until_the_replica_has_what_came_before_it(self, replica, warnings, kind, monkeypatch):
        waited: list[Any] = []
        with replica.behind():
            a_table()
            asked()

            def go_on(seconds: float) -> None:
                if not waited:
                    replica.go_on()
                waited.append(seconds)

            monkeypatch.setattr(reading.time, "sleep", go_on)  # type: ignore[attr-defined]
            report = made()
        assert waited
        assert warnings == [(reading.REPORT, reading.ALIAS)]
        assert [len(page.rows) for page in report.pages.all()] == [1]

    @pytest.mark.sweep
    def test_is_the_primary_s_where_that_takes_too_long(self, replica, warnings, kind, settings):
        settings.REPLICA_LAG_SECONDS = 0.2
        with replica.behind():
            a_table()
            asked()
            report = made()
        assert warnings == [(reading.REPORT, reading.PRIMARY)]
        assert [len(page.rows) for page in report.pages.all()] == [1]
        assert runner.OF_REPLICA not in notes_of(report)

    @pytest.mark.sweep
    def test_a_query_that_replay_cancels_is_repeated_on_the_primary(self, replica, warnings, owner: psycopg.Connection):
        a_table()
        begun = []

        def rows():
            begun.append(Table.objects.count())  # this keeps a lock on the table
            for _ in range(250):
                yield ROW
            if len(begun) == 1:
                owner.execute("ALTER TABLE games_table ADD COLUMN colour text")

                def is_cancelled() -> bool:
                    return asked_of(connection, "SELECT false") is True

                wait_until(is_cancelled, "replay waits for a report")

        with registered(a_kind(answer=lambda asked_for: Answer(rows()))):
            asked()
            report = made()
        assert begun == [1, 1]
        assert [len(page.rows) for page in report.pages.order_by("number")] == [100, 100, 50]
        assert runner.OF_REPLICA not in notes_of(report)
        assert warnings == [(reading.REPORT, reading.PRIMARY)]


class TestIsKnownOf:
    def gauges(self) -> dict[str, float]:
        names = ("sabot_replica_up", "sabot_replica_lag_seconds")
        return {metric.name: metric.samples[0].value for metric in House().collect() if metric.name in names}

    @pytest.mark.sweep
    def test_how_it_follows_and_that_it_is_away(self, replica, warnings):
        found = self.gauges()
        assert found["sabot_replica_up"] == 1
        assert found["sabot_replica_lag_seconds"] >= 0
        assert readiness.NO_REPLICA not in readiness.check_readiness().degraded
        replica.stop()
        try:
            reading.MONITOR.forget()
            assert self.gauges() == {"sabot_replica_up": 0}
            assert readiness.check_readiness().faults == ()
            assert readiness.NO_REPLICA in readiness.check_readiness().degraded
        finally:
            replica.start()

    @pytest.mark.sweep
    def test_that_it_follows_again_whatever_was_written_while_it_was_away(self, replica, warnings, cloned_db):
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            replica.stop()
            for number in range(3):
                a_table(f"away-{number}")
                superuser.execute("SELECT pg_switch_wal()")
                superuser.execute("CHECKPOINT")  # this discards the unneeded write-ahead log
        replica.start()
        replica.catch_up(cloned_db)
        assert is_listed("away-2")
        assert warnings == [OF_REPLICA]

    @pytest.mark.sweep
    def test_that_it_is_behind(self, replica, warnings, settings):
        settings.REPLICA_LAG_SECONDS = 0
        with replica.behind():
            a_table()
            assert readiness.BEHIND in readiness.check_readiness().degraded

    @pytest.mark.sweep
    def test_nothing_where_no_replica_exists(self, cloned_db: Database):
        assert self.gauges() == {}
        assert reading.read(reading.LOBBY, number_of_tables) == 0
