"""Hourly totals: every hour is summed up once, in order, when no more rows can arrive, and never
again.
"""

import json
import threading
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import IntegrityError, connection, connections

from audit import hours
from audit.hours import HOUR, Cut
from audit.models import Event, Rolled, Watermark
from audit.reports.kinds import Interval
from tests.harness.databases import Database
from tests.hours import LONG_AGO, settle

TEN = datetime(2026, 3, 28, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LATER = TEN + 6 * HOUR + 30 * MINUTE  # six hours are settled by then


class Rows:
    """Rows in a table of the test, and their totals."""

    def __init__(self) -> None:
        self.rolled: list[datetime] = []

    def roll(self, hour: datetime) -> int:
        self.rolled.append(hour)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM test_row WHERE at >= %s AND at < %s", [hour, hour + HOUR])
            (found,) = cursor.fetchone()
        return int(found)

    def first(self, since: datetime | None) -> datetime | None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT min(at) FROM test_row WHERE %s::timestamptz IS NULL OR at >= %s", [since, since])
            moment: datetime | None = cursor.fetchone()[0]
        return moment


@pytest.fixture
def registered(monkeypatch):
    """Register only the totals of the test."""
    monkeypatch.setattr(hours, "_registered", {})


def make_table() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE test_row (at timestamptz NOT NULL)")
        cursor.execute("GRANT SELECT, INSERT ON test_row TO PUBLIC")


@pytest.fixture
def rows(cloned_db, registered):
    make_table()
    found = Rows()
    hours.register("test", roll=found.roll, first=found.first)
    return found


def write(*moments: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO test_row VALUES (%s)", [[moment] for moment in moments])


def rolled(totals: str = "test") -> list[tuple[datetime, int]]:
    return list(Rolled.objects.filter(totals=totals).order_by("hour").values_list("hour", "rows"))


def events(kind: str) -> list[dict[str, object]]:
    return [json.loads(bytes(event.body))["data"] for event in Event.objects.filter(kind=kind).order_by("pk")]


class TestAnHourIsSummedUp:
    def test_once_and_with_those_between_in_which_nothing_was_written(self, rows):
        write(TEN, TEN + 59 * MINUTE, TEN + 3 * HOUR)
        settle(LATER)
        assert hours.rolled_until("test") is None
        done = hours.roll_due()
        assert rolled()[:5] == [
            (TEN, 2),
            (TEN + HOUR, 0),
            (TEN + 2 * HOUR, 0),
            (TEN + 3 * HOUR, 1),
            (TEN + 4 * HOUR, 0),
        ]
        assert done == len(rolled())
        assert rows.rolled == [TEN, TEN + 3 * HOUR]  # empty hours cost nothing
        assert hours.rolled_until("test") == TEN + 6 * HOUR
        assert hours.settled() == LATER - MINUTE
        assert hours.roll_due() == 0

    @pytest.mark.sweep
    def test_not_before_anything_was_written(self, rows):
        settle(LATER)
        assert hours.roll_due() == 0
        assert rolled() == []

    @pytest.mark.sweep
    def test_not_without_a_position(self, rows):
        write(TEN)
        assert hours.settled() is None
        assert hours.roll_due() == 0

    @pytest.mark.sweep
    def test_not_before_it_has_settled(self, rows):
        settle(LATER)
        write(TEN + 6 * HOUR)
        assert hours.roll_due() == 0
        settle(TEN + 7 * HOUR + MINUTE - timedelta.resolution)
        assert hours.roll_due() == 0
        settle(TEN + 7 * HOUR + MINUTE)
        assert hours.roll_due() == 1

    @pytest.mark.sweep
    def test_in_bounded_steps_where_many_are_due(self, rows, monkeypatch):
        monkeypatch.setattr(hours, "MOST", 3)
        monkeypatch.setattr(hours, "MOST_EMPTY", 10)
        write(TEN, TEN + HOUR, TEN + 30 * HOUR, TEN + 31 * HOUR)
        settle(TEN + 99 * HOUR)
        assert [hours.roll_due() for _ in range(3)] == [1 + 1 + 10, 10 + 8 + 1, 1 + 10 + 10]
        assert [row for row in rolled() if row[1]] == [(TEN + step * HOUR, 1) for step in (0, 1, 30, 31)]

    @pytest.mark.sweep
    def test_whatever_happens_to_other_sums_which_is_recorded_once(self, rows):
        write(TEN)
        settle(LATER)

        def fail(hour: datetime) -> int:
            return 1 // 0

        hours.register("broken", roll=fail, first=rows.first)
        hours.register("another", roll=rows.roll, first=rows.first)
        assert hours.roll_due() == 2 * len(rolled())
        assert rolled("broken") == []
        assert rolled("another") == rolled()
        hours.roll_due()
        assert events("hourly_totals.failed") == [{"error": "ZeroDivisionError: integer division or modulo by zero"}]
        hours.register("broken", roll=rows.roll, first=rows.first)
        hours.roll_due()
        assert rolled("broken") == rolled()

    def test_and_the_database_takes_no_other_than_the_next(self, rows):
        write(TEN, TEN + HOUR)
        settle(LATER)
        hours.roll_due()
        next_one = rolled()[-1][0] + HOUR
        for hour in (next_one, next_one + HOUR, TEN - HOUR, TEN + 10 * MINUTE):
            with pytest.raises(IntegrityError, match="is not the hour of test to be summed up next"):
                Rolled.objects.create(totals="test", hour=hour, rows=0)
        with pytest.raises(IntegrityError, match="is not the hour of new"):
            Rolled.objects.create(totals="new", hour=TEN + MINUTE, rows=0)
        with pytest.raises(IntegrityError, match="is not the hour of new"):
            Rolled.objects.create(totals="new", hour=next_one, rows=0)


class TestWhatIsWrittenLate:
    """A transaction that was open at the end of the hour and commits later."""

    def test_would_be_missing_if_an_hour_were_summed_up_as_soon_as_it_is_over(self, cloned_db, rows):
        with psycopg.connect(cloned_db.web_url) as late:
            write(TEN)
            late.execute("INSERT INTO test_row VALUES (%s)", [TEN + 59 * MINUTE])
            too_soon = rows.roll(TEN)
            late.commit()
        assert (too_soon, rows.roll(TEN)) == (1, 2)

    def test_is_in_the_sums(self, cloned_db, rows):
        with psycopg.connect(cloned_db.web_url) as late:
            write(TEN)
            late.execute("INSERT INTO test_row VALUES (%s)", [TEN + 59 * MINUTE])
            hours.write_watermark()
            assert hours.settled() is None  # an earlier transaction is open
            assert hours.roll_due() == 0
            late.commit()
        settle(LATER)
        hours.roll_due()
        assert rolled()[0] == (TEN, 2)

    @pytest.mark.sweep
    def test_holds_back_no_longer_than_it_lasts(self, cloned_db, rows):
        """The mark counts when no transaction with a lower id is left, including those of other
        tests.
        """
        with psycopg.connect(cloned_db.web_url) as late:
            late.execute("INSERT INTO test_row VALUES (%s)", [TEN])
            hours.write_watermark()
            assert is_held_back() == (True, True)
            late.commit()
        held_back, somebody_is_left = is_held_back()
        assert held_back == somebody_is_left

    @pytest.mark.sweep
    def test_keeps_only_the_positions_that_wait_for_it(self, cloned_db, rows):
        with psycopg.connect(cloned_db.web_url) as late:
            late.execute("INSERT INTO test_row VALUES (%s)", [TEN])
            for _ in range(2):
                hours.write_watermark()
                settle()
            for _ in range(3):
                hours.write_watermark()
            late.commit()
        transactions = Watermark.objects.order_by("at").values_list("transaction", flat=True)
        assert transactions[0] == LONG_AGO
        assert len([each for each in transactions if each > LONG_AGO]) == 3


def is_held_back() -> tuple[bool, bool]:
    """Return whether the only mark does not count yet, and whether an earlier transaction is
    open.
    """
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT audit_settled() IS NULL, EXISTS (
                SELECT FROM pg_snapshot_xip(pg_current_snapshot()) AS open (xid)
                WHERE xid::text::bigint < (SELECT max(transaction) FROM audit_watermark))
        """)
        held_back, somebody = cursor.fetchone()
    return held_back, somebody


class TestTwoAtOnce:
    def test_sum_an_hour_up_once(self, cloned_db: Database, rows):
        """The second one runs during the first and does not wait."""
        write(TEN)
        settle(LATER)
        at_it, go_on = threading.Event(), threading.Event()
        roll, found = rows.roll, []

        def slowly(hour: datetime) -> int:
            at_it.set()
            assert go_on.wait(60)
            return int(roll(hour))

        def first() -> None:
            found.append(hours.roll_due())
            connections.close_all()

        hours.register("test", roll=slowly, first=rows.first)
        thread = threading.Thread(target=first)
        thread.start()
        assert at_it.wait(60)
        hours.register("test", roll=roll, first=rows.first)
        assert hours.roll_due() == 0
        go_on.set()
        thread.join()
        assert rows.rolled == [TEN]
        assert found == [len(rolled())]
        assert rolled()[0] == (TEN, 1)


@pytest.mark.django_db
class TestAnIntervalIsCut:
    @pytest.fixture
    def five_hours(self, registered):
        """Rows from ten to three o'clock."""
        settle(LATER)
        for hour in range(5):
            Rolled.objects.create(totals="test", hour=TEN + hour * HOUR, rows=0)

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("since", "until", "whole", "ends"),
        [
            (0, 300, (0, 300), []),
            (1, 299, (60, 240), [(1, 60), (240, 299)]),
            (60, 270, (60, 240), [(240, 270)]),
            (30, 120, (60, 120), [(30, 60)]),
            (-90, 400, (-60, 300), [(-90, -60), (300, 400)]),
            (240, 500, (240, 300), [(300, 500)]),
            (241, 500, None, [(241, 500)]),
            (301, 500, None, [(301, 500)]),
            (61, 119, None, [(61, 119)]),
            (59, 121, (60, 120), [(59, 60), (120, 121)]),
            (100, 100, None, []),
            (100, 90, None, []),
        ],
    )
    def test_into_whole_hours_and_ends(self, five_hours, since, until, whole, ends):
        def of(pair: tuple[int, int]) -> Interval:
            return Interval(TEN + pair[0] * MINUTE, TEN + pair[1] * MINUTE)

        (cut,) = hours.cut("test", [of((since, until))])
        assert cut == Cut(of(whole) if whole else None, tuple(of(end) for end in ends))

    def test_into_rows_alone_where_nothing_is_summed_up(self, registered):
        interval = Interval(TEN, TEN + 5 * HOUR)
        assert hours.cut("test", [interval]) == [Cut(None, (interval,))]
