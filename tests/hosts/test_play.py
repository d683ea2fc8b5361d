"""Play that has stopped is found, even if requests are answered."""

from typing import Any

import pytest

from games.models import LiveTable, Participation, Phase
from players.models import Player
from tests.builders import a_player
from tests.hosts import play
from tests.hosts.onlookers import Bettor, Viewer
from tests.live.at_table import a_live_table, advance_to, bet, round_at

pytestmark = pytest.mark.usefixtures("cloned_db")
STAKE = 5000


@pytest.fixture
def player() -> Player:
    return a_player(real=1_000_000)


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


def a_bettor(player: Player) -> Bettor:
    nobody: Any = None
    return Bettor(player.pk, nobody, "", {"chip": STAKE}, lambda: "")


def a_settled_round(player: Player, live_table: LiveTable) -> str:
    """Play a round in which the player has staked; return its id."""
    bet(player, live_table, banker=STAKE)
    round_id = str(round_at(live_table).pk)
    advance_to(live_table, Phase.SETTLED)
    return round_id


def the_next_round(live_table: LiveTable) -> None:
    """Somebody else plays the one that is open."""
    a_settled_round(a_player("DK", real=1_000_000), live_table)
    advance_to(live_table, Phase.BETTING)


def a_viewer(*rounds: str) -> Viewer:
    viewer = Viewer("", str)
    viewer.rounds.update(dict.fromkeys(rounds, 1.0))
    return viewer


def test_nothing_is_missing_once_a_round_that_was_opened_since_is_settled_with_a_bet(player, live_table):
    moment, bettor = play.now(), a_bettor(player)
    the_next_round(live_table)
    round_id = a_settled_round(player, live_table)
    bettor.taken[round_id] = 1
    assert [*play.missing(live_table, moment, [bettor], [a_viewer(round_id)])] == []


def test_a_round_that_was_opened_before_says_nothing(player, live_table):
    bet(player, live_table, banker=STAKE)
    round_id, moment, bettor = str(round_at(live_table).pk), play.now(), a_bettor(player)
    bettor.taken[round_id] = 1
    advance_to(live_table, Phase.SETTLED)
    assert len([*play.missing(live_table, moment, [bettor], [a_viewer(round_id)])]) == 2


def test_a_round_without_a_bet_that_was_taken_says_nothing_and_neither_does_one_that_nobody_was_shown(
    player, live_table
):
    moment = play.now()
    the_next_round(live_table)
    round_id, bettor = a_settled_round(player, live_table), a_bettor(player)
    assert [*play.missing(live_table, moment, [bettor], [a_viewer(round_id), a_viewer()])] == [
        f"player {player.pk} has no bet in a round that was opened since and is settled",
        "viewer 2 was not shown a round that was opened since and is settled",
    ]


@pytest.mark.parametrize(("taken", "doubtful", "is_found"), [(1, 0, False), (0, 1, False), (2, 0, True), (0, 0, True)])
def test_a_stake_that_differs_from_the_report_is_found(player, live_table, taken, doubtful, is_found):
    round_id, bettor = a_settled_round(player, live_table), a_bettor(player)
    bettor.taken[round_id], bettor.doubtful[round_id] = taken, doubtful
    assert Participation.objects.get(round_id=round_id).staked == STAKE
    assert bool([*play.disagreements(live_table, [bettor])]) is is_found
