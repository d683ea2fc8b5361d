"""Play through the API belongs to a play session, as play in a browser does.

So time limits, reality checks and exclusions apply to it. Calls that only read do not count.
"""

import pytest

from games.models import Participation, Table
from players.models import LimitKind, Period, Player, Session
from players.protection import exclusions
from players.protection.limits import set_limit
from tests.api.at_solo import AtTable, answered, refused
from tests.api.client import ApiClient
from tests.builders import a_player, a_table
from tests.harness.owner import as_owner
from tests.players.test_sessions import PLAYER, SECOND, pass_time

pytestmark = pytest.mark.django_db

MONEY = 1_000_000


@pytest.fixture
def player() -> Player:
    return a_player(real=MONEY)


@pytest.fixture
def table() -> Table:
    return a_table()


@pytest.fixture
def at(player: Player, table: Table) -> AtTable:
    """An API client at its open seat."""
    seat = AtTable(ApiClient(player.user), table)
    answered(seat.open())
    return seat


def sessions_played_in() -> set[str]:
    """Return the sessions that rounds are stored with."""
    return {str(session) for session in Participation.objects.values_list("session", flat=True)}


def test_play_belongs_to_the_session_that_the_first_write_began(at):
    (session,) = Session.objects.all()
    assert session.browser == "API client: a test"
    for _ in range(2):
        answered(at.play({"player": 5000}))
    assert sessions_played_in() == {str(session.pk)}


def test_what_is_read_begins_none(player, table):
    api_client = ApiClient(player.user)
    assert answered(api_client.get("protection/check/"))["play_session"] is None
    api_client.get(f"tables/{table.slug}/real/solo-seat/")
    assert not Session.objects.exists()


@pytest.mark.sweep
def test_after_nine_minutes_without_play_another_session_begins(at):
    answered(at.play({"player": 5000}))
    pass_time(PLAYER + SECOND)
    answered(at.play({"player": 5000}))
    assert len(sessions_played_in()) == 2
    assert Session.objects.filter(ended_at=None).count() == 1


def test_a_reality_check_waits_until_it_is_answered(at):
    answered(at.play({"player": 5000}))
    as_owner("UPDATE players_playsession SET began = began - interval '61 minutes'")
    refused(at.play({"player": 5000}), 403, "not-eligible")
    assert answered(at.api_client.get("protection/check/"))["is_due"]
    answered(at.api_client.post("protection/check/", {"answer": "continue"}))
    answered(at.play({"player": 5000}))


def test_time_that_is_used_up_ends_play(player, at):
    set_limit(player=player, kind=LimitKind.TIME, period=Period.DAY, amount=3600, by=str(player))
    answered(at.play({"player": 5000}))
    as_owner("UPDATE players_playtime SET seconds = 3600")
    assert refused(at.play({"player": 5000}), 403, "not-eligible")["ineligibility"] == "used_up"


def test_self_exclusion_also_stops_every_api_client(player, at):
    exclusions.exclude_self(player=player, months=12, by=str(player))
    assert refused(at.play({"player": 5000}), 403, "not-eligible")["ineligibility"] == "excluded"
    assert not Participation.objects.exists()
