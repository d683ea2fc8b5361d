"""Two workers look at the evidence at once: without their lock both would raise the alarm, with it one does."""

from threading import Barrier

import pytest
from django.db import IntegrityError

from games.fairness.returns import monitor
from games.models import ReturnsAlarm, Status, Table
from games.tables.checks import TableError
from tests.builders import a_table
from tests.people import events
from tests.returns.sums import summed_up
from tests.wallet.test_at_once import at_once


@pytest.fixture
def suspicious(cloned_db) -> None:
    """A game that paid what it never pays, whose tables an alarm closes."""
    summed_up(a_table(), other=1)
    monitor.set_stop(variant="baccarat", stops=True, reason="We look first.", by="staff:7")


def test_without_the_lock_both_would_raise_it(suspicious, monkeypatch):
    both, close = Barrier(2), monitor._close_tables

    def closing(*life):
        both.wait(timeout=30)
        return close(*life)

    monkeypatch.setattr(monitor, "_lock", lambda: None)
    monkeypatch.setattr(monitor, "_close_tables", closing)
    with pytest.raises((IntegrityError, TableError)):
        at_once([monitor.check_returns, monitor.check_returns])


def test_gli19_a_6_2_two_who_watch_at_once_raise_one_alarm(suspicious):
    assert sorted(map(len, at_once([monitor.check_returns, monitor.check_returns]))) == [0, 1]
    assert ReturnsAlarm.objects.count() == len(events("returns.alarm")) == len(events("table.closed")) == 1
    assert not Table.objects.filter(status=Status.OPEN).exists()
