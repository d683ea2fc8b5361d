"""A solo round that the role of web and workers finishes for a player who may not play: each is refused by
``games_finish_solo_round``, and succeeds once its refusal is taken out.
"""

from collections.abc import Callable
from datetime import date

import psycopg
import pytest

from games.models import Participation, SoloSeat
from games.rounds.database_refusals import NotTaken
from players.account import closures
from players.login import account_locks
from players.models import Player
from players.protection import exclusions
from tests.builders import a_player, a_seat, a_table
from tests.games.test_rounds_are_written_by_functions import FUNCTION, MONEY, STAKE, as_played, without_refusal
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff


def exclude(player: Player) -> None:
    exclusions.exclude_self(player=player, months=None, by=str(player))


def pause(player: Player) -> None:
    as_owner(
        "INSERT INTO players_exclusion (player_id, kind, begun, until, by) VALUES (%s, 'pause', now(), %s, %s)",
        [player.pk, date(2100, 1, 1), str(player)],
    )


def lock(player: Player) -> None:
    account_locks.lock(player=player, reason="for a test", by=a_member_of_staff("compliance"))


def close(player: Player) -> None:
    closures.begin(player=player, ip="192.0.2.1")


@pytest.mark.parametrize("bar", [exclude, pause, lock, close])
def test_is_not_finished_for_a_player_who_may_not_play(
    cloned_db: object, owner: psycopg.Connection, bar: Callable[[Player], None]
) -> None:
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    asked = as_played(seat, player=STAKE)
    bar(seat.player)
    with pytest.raises(NotTaken):
        asked.send()
    assert not Participation.objects.exists()
    without_refusal(owner, FUNCTION, "SB062")
    asked.send()
    assert Participation.objects.get().player == seat.player
