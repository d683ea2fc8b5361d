"""Shared tables that nobody watches: their betting time passes once and starts again for the next visitor."""

import pytest
from django.test import Client

from games.models import LiveTable, Phase
from games.tables import clock
from tests.api.client import ApiClient
from tests.builders import a_player
from tests.live.at_table import a_live_table, bet, make_late, round_at
from wallet.models import Mode

pytestmark = pytest.mark.django_db


@pytest.fixture
def live_table() -> LiveTable:
    """A table without bets, at which nobody has been for half a minute."""
    made = a_live_table(mode=Mode.FREE)
    make_late(made, 30)
    return made


def seconds_left(live_table: LiveTable) -> float:
    return (round_at(live_table).deadline - clock.now()).total_seconds()


def visit(live_table: LiveTable, rest: str = "") -> None:
    visitor = Client()
    visitor.force_login(a_player().user)
    answer = visitor.get(f"/en/table/{live_table.table.slug}/free/{rest}")
    assert answer.status_code == 200, answer


def test_the_page_of_a_table_begins_its_betting_time(live_table):
    round_id = round_at(live_table).pk
    visit(live_table)
    assert seconds_left(live_table) > 0
    assert (round_at(live_table).pk, round_at(live_table).phase) == (round_id, Phase.BETTING)


def test_so_does_an_api_client(live_table):
    answer = ApiClient(a_player().user).client.get(f"/api/v1/tables/{live_table.table.slug}/free/state/")
    assert answer.status_code == 200, answer.content
    assert answer.json()["state"]["seconds_left"] > 0


def test_a_tick_that_is_merely_a_moment_late_is_left_to_the_worker(live_table):
    make_late(live_table, 2)
    visit(live_table)
    assert seconds_left(live_table) < 0


def test_a_page_does_not_close_bets(live_table):
    """A table with bets is moved by a worker, and nobody waits for that longer than for a tick."""
    make_late(live_table, -30)
    bet(a_player(free=100_00), live_table, banker=50_00)
    make_late(live_table, 2)
    visit(live_table)
    assert round_at(live_table).phase == Phase.BETTING
