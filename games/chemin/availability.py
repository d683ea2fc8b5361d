"""What may begin, be decided or be left at a table, given its status, incidents and deadline.

A closed table begins no coup but plays a coup in progress to its end. So does a paused table, and
every table during a house stop; between two coups such a table waits. A stopped table waits too,
but plays out a dealt coup once none of its incidents awaits a ruling.
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
"""Phases in which a coup may begin, or go on to its cards, because the last player is no longer asked."""


def may_begin(standing: Standing) -> bool:
    """Return whether anything new may begin at the table: it takes bets and is not stopped."""
    return standing.live_table.stopped_by_id is None and _takes_bets(standing)


def does_pause(standing: Standing) -> bool:
    """Return whether only a pause or a house stop keeps the table from beginning coups."""
    table, mode = standing.live_table.table, standing.mode
    return pauses(table, mode) or (standing.is_house_stopped and takes_bets(table, mode))


def is_paused(standing: Standing) -> bool:
    """Return whether the table is paused between two coups, so that a pending question waits."""
    return not standing.in_coup and does_pause(standing)


def why_not(standing: Standing) -> PlayError:
    """Return the error that says why nothing may begin or be answered."""
    if standing.is_house_stopped:
        return HouseStopped()
    if standing.live_table.stopped_by_id is not None:
        return TableStopped()
    return TablePaused() if does_pause(standing) else TableClosed()


def may_go_on(standing: Standing) -> bool:
    """Return whether the pending question may be answered now."""
    if standing.live_table.stopped_by_id is None:
        return standing.in_coup or _takes_bets(standing)
    live_round = standing.live_round
    if live_round is None or live_round.phase != RoundPhase.DEALT:
        return False
    return not unruled().filter(live_round=live_round).exists()


def _takes_bets(standing: Standing) -> bool:
    return not standing.is_house_stopped and takes_bets(standing.live_table.table, standing.mode)


def is_waited_for(standing: Standing, seat: CheminSeat) -> bool:
    """Return whether a waiting table would move on if this player were no longer asked."""
    stands_still = standing.live_table.stopped_by_id is not None or is_paused(standing)
    return stands_still and standing.state.asked == seat.number and standing.state.phase in ANSWERS_BEGIN


def demand_to_leave(standing: Standing, seat: CheminSeat) -> None:
    """Raise the error of `why_not` where a waiting table would move on because this player leaves."""
    if is_waited_for(standing, seat):
        raise why_not(standing)


def is_too_late(standing: Standing) -> bool:
    """Return whether the deadline of the pending question has passed, by the database's clock."""
    deadline = standing.chemin.deadline
    return standing.state.turn is not None and deadline is not None and clock.now() >= deadline
