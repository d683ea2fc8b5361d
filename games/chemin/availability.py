"""Whether a table goes on: what may begin, be answered or be left there, as staff, incidents and the clock have it.

A closed table begins no coup and plays the one in progress to its end. So does one that pauses, and every one while the
whole house is stopped; between two coups it stands still, as a stopped one does, which plays out what is dealt once
nothing about that coup awaits a ruling.
"""

from __future__ import annotations

from typing import Final

from games.chemin.table_state import Standing
from games.engine.chemin import Phase
from games.errors import HouseStopped, PlayError, TableClosed, TablePaused, TableStopped
from games.incidents import unruled
from games.models import CheminSeat
from games.models import Phase as RoundPhase
from games.solo.seats import pauses, takes_bets
from games.tables import clock

ANSWERS_BEGIN: Final = frozenset({Phase.AUCTION, Phase.CALLS, Phase.STAKES})
"""Phases in which a coup may begin, or go on to its cards, by the last guest being asked no more."""


def may_begin(standing: Standing) -> bool:
    """Say whether anything new may begin at the table: it is open, and nothing is the matter there."""
    return standing.live_table.stopped_by_id is None and _takes_bets(standing)


def does_pause(standing: Standing) -> bool:
    """Say whether coups would begin at the table but for its pause, or for a stop of the whole house."""
    table, mode = standing.live_table.table, standing.mode
    return pauses(table, mode) or (standing.is_house_stopped and takes_bets(table, mode))


def is_paused(standing: Standing) -> bool:
    """Say whether the table stands between two coups because it pauses: what is asked there waits."""
    return not standing.in_coup and does_pause(standing)


def why_not(standing: Standing) -> PlayError:
    """Return why nothing may begin there, or be answered."""
    if standing.is_house_stopped:
        return HouseStopped()
    if standing.live_table.stopped_by_id is not None:
        return TableStopped()
    return TablePaused() if does_pause(standing) else TableClosed()


def may_go_on(standing: Standing) -> bool:
    """Say whether what is asked may be answered now."""
    if standing.live_table.stopped_by_id is None:
        return standing.in_coup or _takes_bets(standing)
    live_round = standing.live_round
    if live_round is None or live_round.phase != RoundPhase.DEALT:
        return False
    return not unruled().filter(live_round=live_round).exists()


def _takes_bets(standing: Standing) -> bool:
    return not standing.is_house_stopped and takes_bets(standing.live_table.table, standing.mode)


def is_waited_for(standing: Standing, seat: CheminSeat) -> bool:
    """Say whether a table that stands still would go on because this guest is asked no more."""
    stands_still = standing.live_table.stopped_by_id is not None or is_paused(standing)
    return stands_still and standing.state.asked == seat.number and standing.state.phase in ANSWERS_BEGIN


def demand_to_leave(standing: Standing, seat: CheminSeat) -> None:
    """Raises what `why_not` returns where such a table would go on because this guest is asked no more."""
    if is_waited_for(standing, seat):
        raise why_not(standing)


def is_too_late(standing: Standing) -> bool:
    """Say whether the time for an answer is over, by the database's clock as it stands."""
    deadline = standing.chemin.deadline
    return standing.state.turn is not None and deadline is not None and clock.now() >= deadline
