"""Events are stored in a table for each month, by blocks of ids: created ahead, begun in time,
found by time.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from threading import Thread
from typing import Any

import psycopg
import pytest
from celery.schedules import crontab
from django.db import DatabaseError, connection, transaction
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg import errors
from psycopg.sql import SQL, Identifier

from audit import id_ranges, log, tasks
from audit.models import Event
from audit.reports.kinds import Interval
from casino.celery import app
from tests import old_months
from tests.harness.sweeps import sample
from tests.old_months import beginning
from tests.start.support import wait_until
from tests.wallet.test_at_once import at_once

MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
NUMBERS = "SELECT last_value, is_called FROM audit_event_id_seq"
TABLES = """
    SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_inherits JOIN pg_class ON oid = inhrelid
    WHERE inhparent = 'audit_event'::regclass ORDER BY relname
"""
KEEPS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1012 AND objid = 14 AND granted = %s"


def asked(statement: str, *values: Any) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: tuple[Any, ...] = cursor.fetchone()
    return found


def note() -> int:
    """Record an event and return its id."""
    return log.record("test.monthly", by="system", on="test", data={})


def table_of(event_id: int) -> str:
    (name,) = asked("SELECT tableoid::regclass::text FROM audit_event WHERE id = %s", event_id)
    return str(name)


def tables(owner: psycopg.Connection) -> list[str]:
    return [name for name, _ in owner.execute(TABLES)]


def this_month(owner: psycopg.Connection, later: int = 0) -> datetime:
    """Return the start of the current month of the database, or of a later one."""
    due = "SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + make_interval(months => %s)"
    ((begin,),) = owner.execute(due, [later]).fetchall()
    found: datetime = begin.replace(tzinfo=UTC)
    return found


def of_month(month: datetime) -> str:
    return f"audit_event_{month:%Y_%m}"


@pytest.mark.django_db
class TestBlocks:
    @pytest.mark.sweep
    @given(MOMENTS)
    @example(datetime(2026, 10, 31, 23, 59, 59, 999_999, UTC))
    @example(datetime(2026, 11, 1, tzinfo=UTC))
    @example(datetime(2024, 2, 29, 23, 59, 59, 999_999, UTC))
    @example(datetime(2000, 1, 1, tzinfo=UTC))
    def test_python_and_the_database_count_the_same_months(self, moment):
        block, begin, beyond = asked(
            "SELECT audit_block(at), audit_month_of(audit_block(at)), audit_month_of(audit_block(at) + (1::int8 << 32))"
            " FROM (VALUES (%s::timestamptz)) AS m (at)",
            moment,
        )
        assert block == id_ranges.block(moment)
        assert begin == datetime(moment.year, moment.month, 1, tzinfo=UTC)
        assert begin <= moment < beyond

    @pytest.mark.sweep
    @given(MOMENTS, ZONES)
    def test_a_month_begins_at_one_moment_everywhere(self, moment, zone):
        elsewhere = moment.astimezone(zone)
        assert id_ranges.block(elsewhere) == id_ranges.block(moment)
        assert asked("SELECT audit_block(%s)", elsewhere) == (id_ranges.block(moment),)

    @given(MOMENTS, MOMENTS)
    def test_later_months_have_higher_numbers_and_none_shares_any(self, one, other):
        apart = (one.year, one.month) != (other.year, other.month)
        assert (abs(id_ranges.block(one) - id_ranges.block(other)) >= 1 << 32) == apart
        assert (id_ranges.block(one) < id_ranges.block(other)) == ((one.year, one.month) < (other.year, other.month))

    def test_the_session_s_time_zone_changes_nothing(self):
        asked("SELECT set_config('timezone', 'Pacific/Kiritimati', true)")
        assert asked("SELECT audit_block('2026-10-31 23:59:59+00')") == (id_ranges.block(beginning(2026, 10)),)
        assert asked("SELECT audit_month_of(%s) = '2026-11-01 00:00+00'", id_ranges.FIRST) == (True,)

    def test_the_first_month_is_the_one_that_is_named(self):
        assert id_ranges.block(beginning(2026, 11)) == id_ranges.FIRST


class TestWhereRowsGo:
    def test_an_event_is_in_the_table_of_its_month(self, cloned_db, owner):
        assert table_of(note()) == of_month(this_month(owner))

    @pytest.mark.sweep
    def test_what_was_before_all_months_is_in_a_table_of_its_own(self, cloned_db, owner):
        owner.execute("SELECT setval('audit_event_id_seq', 5, false)")
        assert table_of(note()) == "audit_event_before"
        assert (
            dict(owner.execute(TABLES))["audit_event_before"] == f"FOR VALUES FROM (MINVALUE) TO ('{id_ranges.FIRST}')"
        )

    @pytest.mark.sweep
    def test_months_follow_each_other_without_a_gap(self, cloned_db, owner):
        id_ranges.keep("audit_event")
        named = sorted(name for name in tables(owner) if name != "audit_event_before")
        assert named == [of_month(this_month(owner, later)) for later in range(id_ranges.AHEAD + 1)]
        for name in named:
            month = datetime.strptime(name[-7:], "%Y_%m").replace(tzinfo=UTC)
            begin, end = id_ranges.block(month), id_ranges.block(month + timedelta(days=32))
            assert dict(owner.execute(TABLES))[name] == f"FOR VALUES FROM ('{begin}') TO ('{end}')"

    @pytest.mark.sweep
    def test_the_last_number_of_a_month_and_the_first_of_the_next_lie_in_two_tables(self, cloned_db, owner):
        begin = id_ranges.block(this_month(owner, 1))
        owner.execute("SELECT setval('audit_event_id_seq', %s, false)", [begin - 1])
        assert [table_of(note()), table_of(note())] == [of_month(this_month(owner)), of_month(this_month(owner, 1))]


class TestKeeping:
    def test_months_are_opened_before_they_begin(self, cloned_db, owner):
        last = of_month(this_month(owner, id_ranges.AHEAD))
        owner.execute(SQL("DROP TABLE {}").format(Identifier(last)))
        id_ranges.keep("audit_event")
        assert last in tables(owner)

    @pytest.mark.sweep
    def test_twice_is_harmless(self, cloned_db, owner):
        id_ranges.keep("audit_event")
        before = tables(owner), owner.execute(NUMBERS).fetchone()
        id_ranges.keep("audit_event")
        assert (tables(owner), owner.execute(NUMBERS).fetchone()) == before

    def test_without_a_turn_the_second_of_two_would_fail(self, cloned_db, owner):
        last = this_month(owner, id_ranges.AHEAD)
        owner.execute(SQL("DROP TABLE {}").format(Identifier(of_month(last))))
        beyond = id_ranges.block(last + timedelta(days=32))
        refused = []

        def open_it_too() -> None:
            try:
                owner.execute("SELECT audit_open_month('audit_event', %s)", [beyond])
            except psycopg.Error as error:
                refused.append(type(error))

        with psycopg.connect(cloned_db.owner_url) as first:
            first.execute("SELECT audit_open_month('audit_event', %s)", [beyond])
            second = Thread(target=open_it_too)
            second.start()
            waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
            with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
                pid = owner.info.backend_pid
                wait_until(lambda: superuser.execute(waits, [pid]).fetchone() == (1,), "the second waits for nothing")
            first.commit()
            second.join()
        assert refused in ([errors.DuplicateTable], [errors.UniqueViolation])

    def test_two_at_once_are_one_after_the_other(self, cloned_db, owner):
        """Both find that the table is missing; the second waits, checks again, and finds it."""
        owner.execute(SQL("DROP TABLE {}").format(Identifier(of_month(this_month(owner, id_ranges.AHEAD)))))
        before = tables(owner)
        with psycopg.connect(cloned_db.web_url) as first:
            first.execute("SELECT audit_keep_months('audit_event', %s)", [id_ranges.AHEAD])
            second = Thread(target=keep_in_a_thread)
            second.start()
            wait_until(lambda: owner.execute(KEEPS, [False]).fetchone() == (1,), "the second does not wait")
            assert owner.execute(KEEPS, [True]).fetchone() == (1,)
            first.commit()
            second.join()
        assert len(tables(owner)) == len(before) + 1

    def test_many_at_once_do_it_once(self, cloned_db, owner):
        for later in (2, 3):
            owner.execute(SQL("DROP TABLE {}").format(Identifier(of_month(this_month(owner, later)))))
        assert at_once([partial(id_ranges.keep, "audit_event")] * 8) == [None] * 8
        assert set(tables(owner)) >= {of_month(this_month(owner, later)) for later in range(id_ranges.AHEAD + 1)}

    @pytest.mark.sweep
    def test_the_first_number_of_a_month_comes_when_it_has_begun(self, cloned_db, owner):
        owner.execute("SELECT setval('audit_event_id_seq', 7)")
        id_ranges.keep("audit_event")
        assert note() == id_ranges.block(this_month(owner))

    @pytest.mark.sweep
    def test_numbers_of_this_month_go_on(self, cloned_db, owner):
        last = note()
        id_ranges.keep("audit_event")
        assert note() == last + 1

    def test_numbers_never_go_back(self, cloned_db, owner):
        ahead = id_ranges.block(this_month(owner, 2)) + 5
        owner.execute("SELECT setval('audit_event_id_seq', %s)", [ahead])
        id_ranges.keep("audit_event")
        assert note() == ahead + 1

    @pytest.mark.sweep
    def test_late_costs_nothing(self, cloned_db, owner):
        """Without maintenance for years, rows go into the last existing month until maintenance
        runs.
        """
        old_months.make(owner, beginning(2026, 8))
        old_months.go_to(owner, beginning(2026, 8))
        for later in range(id_ranges.AHEAD + 1):
            owner.execute(SQL("DROP TABLE {}").format(Identifier(of_month(this_month(owner, later)))))
        late = [note() for _ in range(3)]
        assert {table_of(each) for each in late} == {"audit_event_2026_08"}
        id_ranges.keep("audit_event")
        assert table_of(note()) == of_month(this_month(owner))
        assert Event.objects.filter(pk__in=late).count() == 3


def keep_in_a_thread() -> None:
    try:
        id_ranges.keep("audit_event")
    finally:
        connection.close()


class TestALockHeldOnATable:
    def test_is_waited_for_half_a_second_at_most_and_play_goes_on(self, cloned_db, owner):
        last = of_month(this_month(owner, id_ranges.AHEAD))
        owner.execute(SQL("DROP TABLE {}").format(Identifier(last)))
        with psycopg.connect(cloned_db.superuser_url) as somebody:
            somebody.execute("LOCK TABLE audit_event IN SHARE UPDATE EXCLUSIVE MODE")
            begin = owner.execute("SELECT clock_timestamp()").fetchone()[0]
            with pytest.raises(DatabaseError) as refused:
                id_ranges.keep("audit_event")
            assert isinstance(refused.value.__cause__, errors.LockNotAvailable)
            waited = owner.execute("SELECT clock_timestamp() - %s", [begin]).fetchone()[0]
            assert timedelta(milliseconds=400) < waited < timedelta(seconds=5)
            assert table_of(note()) == of_month(this_month(owner))
        assert last not in tables(owner)
        id_ranges.keep("audit_event")
        assert last in tables(owner)

    def test_a_month_is_opened_while_others_read_and_write(self, cloned_db, owner):
        """An open transaction does not block the creation of a month, and is not blocked by it."""
        owner.execute(SQL("DROP TABLE {}").format(Identifier(of_month(this_month(owner, id_ranges.AHEAD)))))
        with transaction.atomic():
            note()
            assert Event.objects.count()
            keeper = Thread(target=keep_in_a_thread)
            keeper.start()
            keeper.join()
            assert of_month(this_month(owner, id_ranges.AHEAD)) in tables(owner)
            note()
        assert Event.objects.filter(kind="test.monthly").count() == 2


class TestWhoMayKeep:
    def test_web_and_workers_may(self, cloned_db):
        with psycopg.connect(cloned_db.web_url) as web:
            web.execute("SELECT audit_keep_months('audit_event', 12)")

    @pytest.mark.parametrize(
        "table", sample(["wallet_account", "pg_class", "audit_leaf", "nothing", "audit_event_before", ""], 1)
    )
    def test_with_no_table_that_is_not_kept_by_months(self, cloned_db, table):
        with psycopg.connect(cloned_db.web_url) as web, pytest.raises(errors.InvalidParameterValue):
            web.execute("SELECT audit_keep_months(%s, 3)", [table])

    @pytest.mark.parametrize("ahead", sample([-1, 13, 1_000_000], 1))
    def test_no_further_ahead_than_a_year(self, cloned_db, ahead):
        with psycopg.connect(cloned_db.web_url) as web, pytest.raises(errors.InvalidParameterValue):
            web.execute("SELECT audit_keep_months('audit_event', %s)", [ahead])

    def test_nothing_else_of_the_month(self, cloned_db):
        with psycopg.connect(cloned_db.web_url) as web, pytest.raises(errors.InsufficientPrivilege):
            web.execute("SELECT audit_open_month('audit_event', 0)")


class TestTheHouseKeeps:
    @pytest.mark.parametrize("task", ["audit.tasks.keep_months", "wallet.tasks.keep_months"])
    def test_beat_asks_twice_an_hour(self, task):
        schedules = [each["schedule"] for each in app.conf.beat_schedule.values() if each["task"] == task]
        assert schedules == [crontab(minute="3,33")]

    @pytest.mark.sweep
    def test_the_task_does_it(self, cloned_db, owner):
        last = of_month(this_month(owner, id_ranges.AHEAD))
        owner.execute(SQL("DROP TABLE {}").format(Identifier(last)))
        owner.execute("SELECT setval('audit_event_id_seq', 7)")
        tasks.keep_months()
        assert last in tables(owner)
        assert note() == id_ranges.block(this_month(owner))


class TestFoundByTime:
    """Between two months there are unused ids; a binary search by time meets them."""

    AT = "UPDATE audit_event SET at = %s WHERE id = %s"

    @pytest.fixture
    def backdated(self, cloned_db, owner) -> Iterator[Callable[[datetime], int]]:
        """Return a function that records an event at a time, with an id of its month."""
        old_months.make(owner, beginning(2026, 5))
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            superuser.execute("SET session_replication_role = replica")

            def record(moment: datetime) -> int:
                old_months.go_to(owner, moment)
                number = note()
                superuser.execute(self.AT, [moment, number])
                return number

            yield record

    @pytest.mark.sweep
    def test_exactly_across_the_gaps_of_months(self, backdated):
        times = [
            beginning(2026, 5) + timedelta(hours=3),
            *(beginning(2026, 6) + timedelta(hours=each) for each in range(0, 720, 40)),
            beginning(2026, 7) - timedelta(microseconds=1),
            beginning(2026, 7),
            # none in August
            *(beginning(2026, 9) + timedelta(days=each) for each in range(30)),
            beginning(2026, 10),
        ]
        numbers = {backdated(moment): moment for moment in times}
        starts = [beginning(2026, month) for month in range(5, 11)]
        for since in [*starts, *times[::5]]:
            for until in (since + timedelta(hours=1), since + timedelta(days=10), since + timedelta(days=70)):
                found = id_ranges.ids("audit_event", Interval(since, until))
                due = {number for number, moment in numbers.items() if since <= moment < until}
                near = {
                    number
                    for number, moment in numbers.items()
                    if since - 2 * id_ranges.SLACK <= moment < until + 2 * id_ranges.SLACK
                }
                assert due <= {number for number in numbers if number in found} <= near

    @pytest.mark.sweep
    def test_of_a_month_without_any_nothing_is_found(self, backdated):
        numbers = [backdated(beginning(2026, 6)), backdated(beginning(2026, 9) + timedelta(days=1))]
        found = id_ranges.ids("audit_event", Interval(beginning(2026, 7), beginning(2026, 8)))
        assert not any(number in found for number in numbers)
