"""Prepared statements go past psycopg's cursors (`audit.prepared`): with the same values, errors and transactions."""

from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Thread
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import DataError, OperationalError, connection, transaction

from audit.prepared import Question, ask, transaction_or_savepoint
from audit.raw_rows import fetch_first, fetch_last, fetch_one, fetch_together
from tests.harness.databases import Database

USES = 5  # of a statement, after which psycopg has prepared it
VALUES = """
SELECT %(number)s::bigint, %(text)s::text, %(bytes)s::bytea, %(id)s::uuid, %(nothing)s::text, %(flag)s::boolean,
    '2026-11-28 10:00:00.5+00'::timestamptz, '{"a": 1}'::jsonb, ARRAY[1, 2]::bigint[], '1:02:03'::interval"""
GIVEN: dict[str, Any] = {"number": 7, "text": "ä", "bytes": b"\0\xff", "id": UUID(int=1), "nothing": None, "flag": True}
DIVIDE = "SELECT 6 / %s::int"
DIVIDE_BY_NAME = "SELECT 6 / %(by)s::int"
LOCK = "SELECT pg_advisory_xact_lock(%s::bigint)"
WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
SET = "SELECT set_config('test.value', %(value)s::text, false)"
SET_HERE = "SELECT set_config('test.value', %(value)s::text, true)"
SESSION = "SELECT pg_backend_pid() WHERE %s::boolean"
LAST = "SELECT query FROM pg_stat_activity WHERE pid = %s"


class Undone(Exception):
    """Raised to go back."""


def prepare(*question: Question) -> None:
    """Use a statement until psycopg has prepared it."""
    for statement, parameters in question:
        for _ in range(USES):
            fetch_one(statement, parameters)
        assert ask((statement, parameters))


def only(row: Iterator[Any] | None) -> Any:
    """Return the first column of a row that there is."""
    assert row is not None
    return next(row)


def rows(*questions: Question) -> list[Any]:
    """Return the first rows of prepared statements."""
    answers = ask(*questions)
    assert answers is not None
    return [answer.first() for answer in answers]


def test_values_are_those_of_a_cursor(cloned_db):
    prepare((VALUES, GIVEN))
    with connection.cursor() as cursor:
        cursor.execute(VALUES, GIVEN)
        expected = cursor.fetchone()
    found = rows((VALUES, GIVEN))[0]
    assert found == expected
    assert expected[6] == datetime(2026, 11, 28, 10, 0, 0, 500_000, UTC)
    assert found[6].tzinfo is UTC


def test_what_postgresql_skips_after_an_error_is_not_taken_for_prepared(cloned_db):
    """psycopg would take it for prepared: each later use on the connection failed, of every page."""
    question = "SELECT 7 * %s::int", [6]
    connection.ensure_connection()
    for _ in range(connection.connection.prepare_threshold):
        fetch_together(question)
    assert ask(question) is None, "the next use prepares it"
    with pytest.raises(DataError):
        fetch_together(("SELECT 6 / %s::int AS sixth", [0]), question)
    assert fetch_together(question) == [{"?column?": 42}]


def test_a_transaction_begins_and_ends_with_its_statements(cloned_db):
    prepare((DIVIDE, [2]), (DIVIDE_BY_NAME, {"by": 2}))
    with transaction.atomic():
        assert connection.connection.info.transaction_status.name == "IDLE"
        assert next(fetch_first(DIVIDE_BY_NAME, {"by": 3}) or iter(())) == 2
        assert connection.connection.info.transaction_status.name == "INTRANS"
        assert list(fetch_last(DIVIDE, [1])) == [6]
        assert connection.connection.info.transaction_status.name == "IDLE"


def test_an_error_is_djangos_and_takes_back_what_was_done_before(cloned_db):
    prepare((DIVIDE, [2]), (SET, {"value": "before"}))

    def fail() -> None:
        with transaction.atomic():
            fetch_first(SET, {"value": "within"})
            fetch_last(DIVIDE, [0])

    with pytest.raises(DataError, match="division by zero"):
        fail()
    assert ask((DIVIDE, [2])) is None  # the rollback took the prepared statements too
    assert only(fetch_one("SELECT current_setting('test.value')", [])) == "before"


def test_nothing_is_carried_out_after_an_error(cloned_db):
    prepare((DIVIDE, [2]))
    with pytest.raises(DataError):
        ask((DIVIDE, [0]), (DIVIDE, [1]))
    assert rows((DIVIDE, [2]), (DIVIDE, [1])) == [(3,), (6,)]


PREPARED = pytest.mark.parametrize("is_prepared", [True, False])


@PREPARED
def test_a_savepoint_that_travels_takes_back_what_was_done_since(cloned_db, *, is_prepared: bool) -> None:
    if is_prepared:
        prepare((DIVIDE, [2]), (SET_HERE, {"value": "before"}))

    def fail_within() -> None:
        with transaction_or_savepoint():
            fetch_first(SET_HERE, {"value": "within"})
            fetch_last(DIVIDE, [0])

    with transaction.atomic():
        fetch_first(SET_HERE, {"value": "before"})
        with pytest.raises(DataError, match="division by zero"):
            fail_within()
        assert only(fetch_one("SELECT current_setting('test.value')", [])) == "before"
        assert connection.savepoint_ids == []


@PREPARED
def test_within_a_savepoint_that_travels_nothing_is_committed(cloned_db, *, is_prepared: bool) -> None:
    if is_prepared:
        prepare((DIVIDE, [2]), (SET_HERE, {"value": "before"}))

    def undo() -> None:
        with transaction.atomic():
            with transaction_or_savepoint():
                fetch_first(SET_HERE, {"value": "within"})
                assert list(fetch_last(DIVIDE, [1])) == [6]
            assert only(fetch_one("SELECT current_setting('test.value')", [])) == "within"
            raise Undone

    with pytest.raises(Undone):
        undo()
    assert only(fetch_one("SELECT current_setting('test.value', true)", [])) in {"", None}


def test_a_savepoint_is_not_sent_for_nothing(cloned_db) -> None:
    with transaction.atomic():
        assert only(fetch_one(DIVIDE, [2])) == 3
        with pytest.raises(Undone), transaction_or_savepoint():
            raise Undone
        assert only(fetch_one(DIVIDE, [3])) == 2


def test_a_broken_transaction_takes_no_statement(cloned_db):
    prepare((DIVIDE, [2]))
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(transaction.TransactionManagementError):
            fetch_one(DIVIDE, [2])


def test_a_lost_connection_is_an_error_once(cloned_db):
    prepare((SESSION, [True]))
    session = only(fetch_one(SESSION, [True]))
    end(session, cloned_db)
    with pytest.raises(OperationalError):
        fetch_one(SESSION, [True])
    connection.close_if_unusable_or_obsolete()
    assert only(fetch_one(SESSION, [True])) != session


def test_a_connection_that_has_just_answered_is_used_without_asking_and_a_lost_one_is_not(cloned_db):
    prepare((SESSION, [True]))
    request(cloned_db)
    session, last = request(cloned_db)
    assert last.startswith("SELECT pg_backend_pid")
    end(session, cloned_db)
    assert request(cloned_db)[0] != session


def test_a_large_parameter_arrives_whole(cloned_db):
    length = "SELECT length(%s::text)"
    prepare((length, ["x"]))
    assert only(fetch_one(length, ["x" * 20_000_000])) == 20_000_000


def test_other_threads_run_while_postgresql_is_waited_for(cloned_db):
    got: list[Any] = []

    def wait() -> None:
        only(fetch_one("SELECT set_config('statement_timeout', '20s', false)", []))
        prepare((LOCK, [2]))
        got.extend(rows((LOCK, [1])))
        connection.close()

    with psycopg.connect(cloned_db.owner_url) as other:
        other.execute(LOCK, [1])
        waits = Thread(target=wait)
        waits.start()
        while other.execute(WAITING).fetchone() == (0,):
            pass
        other.rollback()
        waits.join()
    assert len(got) == 1


def request(database: Database) -> tuple[int, str]:
    """Do what a request does with its connection; return its session, and the last statement before its own."""
    connection.close_if_unusable_or_obsolete()
    connection.close_if_health_check_failed()
    with psycopg.connect(database.superuser_url) as superuser:
        used = connection.connection
        last = superuser.execute(LAST, [used.info.backend_pid if used else 0]).fetchone()
    session = only(fetch_one(SESSION, [True]))
    connection.close_if_unusable_or_obsolete()
    return session, last[0] if last else ""


def end(session: int, database: Database) -> None:
    """End a session of PostgreSQL and wait until it is gone."""
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        superuser.execute("SELECT pg_terminate_backend(%s, 60000)", [session])
