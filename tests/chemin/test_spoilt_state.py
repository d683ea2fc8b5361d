"""Every kind of unreadable table state: staff are alerted, play stops, and the ledger decides."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from games.chemin.pages import floor
from games.chemin.state import ledger_view
from games.chemin.stop import continue_table
from games.models import CheminSeat, CheminTable, LiveRound, LiveTable, Status, Table
from games.shared import malfunction
from games.shared.malfunction import MalfunctionError
from games.tables.checks import TableError
from games.tables.status import pause_table
from tests.chemin.at_table import a_chemin_table, a_coup_without_a_natural, chemin_of, seated_players, step
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.owner import update_as_owner

pytestmark = pytest.mark.django_db
State = dict[str, Any]

SPOILT: dict[str, Callable[[State], object]] = {
    "nothing is there": lambda state: {},
    "it is no state at all": lambda state: "spoilt",
    "a part has another shape": lambda state: state | {"seats": 7},
    "a value has no meaning": lambda state: state | {"phase": "dancing"},
    "a number is a word": lambda state: (
        state | {"coup": state["coup"] | {"hands": state["coup"]["hands"] | {"first": "x"}}}
    ),
    "cards lie where there are none": lambda state: (
        state | {"coup": state["coup"] | {"hands": state["coup"]["hands"] | {"first": 311}}}
    ),
    "what the phase needs is missing": lambda state: state | {"coup": None},
    "an amount is missing": lambda state: state | {"bank": [1]},
}
ONLY_CARDS = ("a number is a word", "cards lie where there are none")
"""Damage that does not affect what staff need: seats, banks and stakes."""

NOT_ASKED = "what the phase needs is missing"
"""Damage that is only found at the next step of a coup: no question is repeated when the table
resumes.
"""


@pytest.fixture(scope="module")
def live_table(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveTable]:
    """A table in the middle of a coup."""
    with django_db_blocker.unblock(), databases.kept_for_several_tests():
        live_table = a_chemin_table()
        seated_players(live_table)
        a_coup_without_a_natural(live_table)
        yield live_table


@pytest.fixture(params=SPOILT)
def spoilt(live_table: LiveTable, db: None, request: pytest.FixtureRequest) -> LiveTable:
    """The table with a damaged state."""
    state = SPOILT[request.param](chemin_of(live_table).state)
    update_as_owner(CheminTable.objects.filter(pk=live_table.pk), state=state)
    return live_table


def test_is_reported_to_staff_and_allows_only_what_follows_the_ledger(
    spoilt: LiveTable, request: pytest.FixtureRequest
) -> None:
    shown = floor.read_chemin_states([spoilt.pk])[spoilt.pk]
    is_announced = shown.goes_on == "its state cannot be read"
    assert is_announced or request.node.callspec.params["spoilt"] in ONLY_CARDS
    coup = LiveRound.objects.get(live_table=spoilt, ended_at=None)
    incident = malfunction.report(round_id=coup.pk, cause="The page is empty.", by="staff:1")
    with pytest.raises(MalfunctionError, match="Break up the table"):
        malfunction.let_stand(incident_id=incident.pk, reason="looked into it", by="staff:1")
    with transaction.atomic():
        assert ledger_view.is_lost(ledger_view.at(spoilt.pk))
    assert CheminSeat.objects.filter(live_table=spoilt, left_at=None).count() == 3


def test_lets_no_paused_table_go_on(spoilt: LiveTable, request: pytest.FixtureRequest) -> None:
    pause_table(table_id=spoilt.table_id, reason="The page is empty.", by="staff:1")
    if request.node.callspec.params["spoilt"] == NOT_ASKED:
        continue_table(table_id=spoilt.table_id, reason="looked into it", by="staff:1")
        step(spoilt)
        assert LiveTable.objects.get(pk=spoilt.pk).stopped_by_id is not None
        return
    with pytest.raises(TableError, match="Break up the table"):
        continue_table(table_id=spoilt.table_id, reason="looked into it", by="staff:1")
    assert Table.objects.get(pk=spoilt.table_id).status == Status.PAUSED
