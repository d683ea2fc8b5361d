"""Whether a table goes on: what may begin, be answered or be left there, as staff, incidents and the clock have it.

A closed table begins no coup and plays the one in progress to its end. A stopped one plays out what is dealt, once
nothing about that coup awaits a ruling, and else stands still.
"""

from __future__ import annotations

from typing import Final

from games.chemin.standing import Standing
from games.engine.chemin import Phase
from games.errors import TableStopped
from games.incidents import unruled
from games.live import clock
from games.models import CheminSeat
from games.models import Phase as RoundPhase
from games.places import takes_bets

ANSWERS_BEGIN: Final = frozenset({Phase.AUCTION, Phase.CALLS, Phase.STAKES})
"""Phases in which a coup may begin, or go on to its cards, by the last guest being asked no more."""


def may_begin(standing: Standing) -> bool:
    """Say whether anything new may begin at the table: it is open, and nothing is the matter there."""
    return standing.live_table.stopped_by_id is None and takes_bets(standing.live_table.table, standing.mode)


def may_go_on(standing: Standing) -> bool:
    """Say whether what is asked may be answered now."""
    if standing.live_table.stopped_by_id is None:
        return standing.in_coup or takes_bets(standing.live_table.table, standing.mode)
    live_round = standing.live_round
    if live_round is None or live_round.phase != RoundPhase.DEALT:
        return False
    return not unruled().filter(live_round=live_round).exists()


def is_waited_for(standing: Standing, seat: CheminSeat) -> bool:
    """Say whether a stopped table would go on because this guest is asked no more."""
    is_stopped = standing.live_table.stopped_by_id is not None
    return is_stopped and standing.state.asked == seat.number and standing.state.phase in ANSWERS_BEGIN


def demand_to_leave(standing: Standing, seat: CheminSeat) -> None:
    """Raises TableStopped where a stopped table would go on because this guest is asked no more."""
    if is_waited_for(standing, seat):
        raise TableStopped


def is_too_late(standing: Standing) -> bool:
    """Say whether the time for an answer is over, by the database's clock as it stands."""
    deadline = standing.chemin.deadline
    return standing.state.turn is not None and deadline is not None and clock.now() >= deadline
