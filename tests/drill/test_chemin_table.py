"""A Chemin de Fer table that does not continue is found."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from games.models import CheminMove, LiveTable
from tests.chemin.at_table import a_bank, a_bank_to_keep, a_chemin_table, seated_players, step
from tests.drill.chemin_table import DrilledTable

pytestmark = pytest.mark.usefixtures("cloned_db")


@pytest.fixture
def live_table() -> LiveTable:
    table = a_chemin_table()
    seated_players(table)
    return table


@pytest.fixture
def table(live_table) -> DrilledTable:
    return DrilledTable(live_table.pk)


def test_it_has_gone_on_once_something_is_done_there_by_whomever(live_table, table):
    for goes_on in (lambda: a_bank(live_table), lambda: step(live_table)):
        stood = table.state()
        assert table.changed_at(stood) is None
        goes_on()
        assert table.changed_at(stood) == CheminMove.objects.get(number=stood.move + 1).at
    assert [stood.phase, table.state().phase] == ["calls", "calls"]


@pytest.fixture
def ticked(live_table) -> Callable[[datetime, str], list[str]]:
    """The log of a worker to which a tick came at that moment, and asked for those tables."""

    def lines(at: datetime, asked: str) -> list[str]:
        said = (
            "Task games.tasks.tick_chemin[1-a] received",
            f"Task games.tasks.tick_chemin[1-a] succeeded in 0.0s: {asked}",
        )
        return [json.dumps({"event": each, "timestamp": at.isoformat()}) for each in said]

    return lines


@pytest.mark.sweep
def test_a_tick_that_passes_it_over_once_its_time_is_up_is_in_vain(live_table, table, ticked):
    a_bank(live_table)
    assert step(live_table)
    stood = table.state()
    assert stood.deadline
    before, due = stood.deadline - timedelta(seconds=1), stood.deadline
    assert table.in_vain(stood, before, ticked(due, "[]")) == 0  # nobody has moved it
    step(live_table)
    changed = table.changed_at(stood)
    assert changed
    current = type(stood)(stood.phase, stood.move, changed - timedelta(seconds=3))
    late = changed - timedelta(seconds=1)
    assert table.in_vain(current, before - timedelta(days=1), ticked(late, "[]")) == 1
    assert table.in_vain(current, before - timedelta(days=1), ticked(late, f"[{live_table.pk}]")) == 0
    assert table.in_vain(current, changed, ticked(late, "[]")) == 0  # before it had recovered


@pytest.mark.sweep
def test_coups_are_counted_from_a_moment_on(live_table, table):
    assert table.coups_since(None) == 0
    a_bank_to_keep(live_table)
    stood = table.state()
    assert table.coups_since(None) > 0
    step(live_table)
    changed = table.changed_at(stood)
    assert changed
    assert table.coups_since(changed) == 0
