"""Rows of a time range are found by their ids."""

from datetime import timedelta

import pytest

from audit import id_ranges, log
from audit.models import Event
from audit.reports.kinds import Interval
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.reports_history import clock

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


TABLE = "players_realitycheck"  # an append-only table of few columns


def backdated(seconds):
    """Return rows at these times, with every seventh id used."""
    player, begin = a_player(), clock()
    for number, each in enumerate(seconds):
        as_owner(
            "INSERT INTO players_realitycheck (id, player_id, minutes, at) OVERRIDING SYSTEM VALUE"
            " VALUES (%s, %s, 30, %s)",
            [7 * number, player.pk, begin + each * SECOND],
        )
    return begin


def test_no_row_of_the_interval_is_left_out_and_few_others_are_read():
    begin = backdated(range(0, 100_000, 500))
    for since, until in ((0, 500), (20_000, 30_000), (99_000, 200_000), (-9000, -8000), (12_345, 12_346)):
        found = id_ranges.ids(TABLE, Interval(begin + since * SECOND, begin + until * SECOND))
        due = [7 * number for number, each in enumerate(range(0, 100_000, 500)) if since <= each < until]
        assert all(number in found for number in due)
        read = len(range(found.start // 7, found.stop // 7))
        assert read <= len(due) + 2 * id_ranges.SLACK.total_seconds() / 500 + 2


def test_rows_that_came_a_little_late_are_found_too():
    slack = int(id_ranges.SLACK.total_seconds())
    begin = backdated([0, 2000, 4000, 4000 - slack + 1, 4001, 8000, 8000 - slack + 1, 8001, 12_000])
    found = id_ranges.ids(TABLE, Interval(begin + 3300 * SECOND, begin + 3500 * SECOND))
    assert 7 * 3 in found
    assert 7 * 6 in id_ranges.ids(TABLE, Interval(begin + 7400 * SECOND, begin + 7402 * SECOND))


def test_a_table_without_rows_has_none():
    backdated([])
    assert id_ranges.ids(TABLE, Interval(clock() - SECOND, clock())) == range(0)


def test_the_event_log_is_read_by_its_ids():
    number = log.record("test.timed", by="system", on="test", data={})
    at = Event.objects.get(pk=number).at
    assert number in id_ranges.ids("audit_event", Interval(at, at + SECOND))
