"""A round that has begun is played to its end, regardless of the player, the session, the table or the house.

At a solo table a round is one transaction: what would prevent it waits (tests/players/test_exclusions_kept.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from games.betting.limits import Limits
from games.engine.chemin import Phase as CheminPhase
from games.models import CheminCoup, LiveTable, Participation, Phase, Void
from games.shared.bets import add_chip
from games.shared.seats import open_seat
from games.tables.status import close_table, pause_table
from players.login import locks, sessions
from players.models import Ended, LimitKind, Period, Player
from players.protection import exclusions, limits, play_sessions
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, a_session, a_staked_coup, cash, finish_cut, sit, step_to
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, round_at
from tests.people import a_member_of_staff
from wallet import house_stop
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 50_000  # minor units, below every monthly limit
CODES = ["SE", "DK", "RO", "DE", "GB"]


@dataclass(frozen=True)
class Middle:
    """A player in the middle of a round."""

    player: Player
    session: UUID
    live_table: LiveTable


def log_in_elsewhere(at: Middle) -> None:
    sessions.end_all(user=at.player.user, why=Ended.ELSEWHERE, by=str(at.player))


def do_nothing_for_long(at: Middle) -> None:
    as_owner("UPDATE players_session SET acted_at = acted_at - interval '1 hour' WHERE id = %s", [at.session])
    assert sessions.end_idle()


def take_a_pause(at: Middle) -> None:
    exclusions.pause(player=at.player, by=str(at.player))


def be_locked(at: Middle) -> None:
    locks.lock(player=at.player, reason="for a test", by=a_member_of_staff("compliance"))


def reach_a_limit(at: Middle) -> None:
    for kind in (LimitKind.STAKE, LimitKind.LOSS):
        limits.set_limit(player=at.player, kind=kind, period=Period.DAY, amount=1, by=str(at.player))


def use_up_the_time(at: Middle) -> None:
    limits.set_limit(player=at.player, kind=LimitKind.TIME, period=Period.DAY, amount=1, by=str(at.player))


def get_a_reality_check(at: Middle) -> None:
    play_sessions.read_session(at.player, at.session)
    as_owner("UPDATE players_playsession SET checked_at = clock_timestamp() - interval '2 hours'")
    assert play_sessions.read_session(at.player, at.session).is_check_due


def stop_the_house(at: Middle) -> None:
    house_stop.stop_house(reason="for a test", by=a_member_of_staff("supervisor"))


def pause_the_table(at: Middle) -> None:
    pause_table(table_id=at.live_table.table_id, reason="for a test", by="staff:test")


def close_it(at: Middle) -> None:
    close_table(table_id=at.live_table.table_id, reason="for a test", by="staff:test")


WHATEVER: list[Callable[[Middle], Any]] = [
    log_in_elsewhere,
    do_nothing_for_long,
    take_a_pause,
    be_locked,
    reach_a_limit,
    use_up_the_time,
    get_a_reality_check,
    stop_the_house,
    pause_the_table,
    close_it,
]
ELSEWHERE = [(code, happens) for happens in WHATEVER for code in CODES if code != "DK"]
whatever = pytest.mark.parametrize(
    ("code", "happens"),
    [*(("DK", happens) for happens in WHATEVER), *sample(ELSEWHERE, 3)],
    ids=lambda each: getattr(each, "__name__", each),
)


@whatever
def test_dk_a_round_of_a_shared_table_is_dealt_and_paid(code, happens):
    player, live_table = a_player(code, real=MONEY), a_live_table()
    session = a_session(player)
    open_seat(player, live_table)
    round_id = round_at(live_table).pk
    limits_there = Limits.of(round_at(live_table).version.limits, player.currency)
    chip = next(each for each in limits_there.chips if each >= limits_there.bets["player"].minimum)
    add_chip(player=player, live_table_id=live_table.pk, round_id=round_id, bet="player", chip=chip, session=session)
    happens(Middle(player, session, live_table))
    advance_to(live_table, Phase.SETTLED)
    part = Participation.objects.get(round_id=round_id, player=player)
    assert (part.staked, part.session) == (chip, session)
    assert part.balance_after == MONEY - chip + part.paid == cash(player).balance
    assert not Void.objects.exists()


@whatever
def test_dk_a_coup_of_chemin_de_fer_is_dealt_and_paid(code, happens):
    banker, punter = (a_player(code, real=MONEY) for _ in range(2))
    live_table = a_chemin_table(currency=banker.currency)
    session = a_session(punter)
    sit(banker, live_table, 1)
    sit(punter, live_table, 2, session)
    assert a_staked_coup(live_table) == (banker, punter)
    finish_cut(live_table)
    happens(Middle(punter, session, live_table))
    step_to(live_table, CheminPhase.CHOICE, CheminPhase.OFFER, CheminPhase.FREE, CheminPhase.ALONE)
    coup = CheminCoup.objects.get()
    assert coup.outcome
    part = Participation.objects.get(round_id=coup.round_id, player=punter)
    assert (part.staked, part.session) == (4_000, session)
    assert cash(punter).balance == MONEY - part.staked + part.paid
    assert not Void.objects.exists()
    assert part.mode == Mode.REAL
