"""What may begin, be decided or be left at a table, given its status, incidents and deadline.

A closed table begins no coup but plays a coup in progress to its end. So does a paused table, and
every table during a house stop; between two coups such a table waits. A stopped table waits too,
but plays out a dealt coup once none of its incidents awaits a ruling.
"""

from __future__ import annotations

from typing import Final

from games.chemin.state.table_state import TableState
from games.engine.chemin import Phase
from games.errors import HouseStopped, PlayError, TableClosed, TablePaused, TableStopped
from games.incidents import unruled
from games.models import CheminSeat
from games.models import Phase as RoundPhase
from games.solo.seats import pauses, takes_bets
from games.tables import clock

ANSWERS_BEGIN: Final = frozenset({Phase.AUCTION, Phase.CALLS, Phase.STAKES})
"""Phases in which a coup may begin, or go on to its cards, because the last player is no longer asked."""


def may_begin(table_state: TableState) -> bool:
    """Return whether anything new may begin at the table: it takes bets and is not stopped."""
    return table_state.live_table.stopped_by_id is None and _takes_bets(table_state)


def does_pause(table_state: TableState) -> bool:
    """Return whether only a pause or a house stop keeps the table from beginning coups."""
    table, mode = table_state.live_table.table, table_state.mode
    return pauses(table, mode) or (table_state.is_house_stopped and takes_bets(table, mode))


def is_paused(table_state: TableState) -> bool:
    """Return whether the table is paused between two coups, so that a pending question waits."""
    return not table_state.in_coup and does_pause(table_state)


def why_not(table_state: TableState) -> PlayError:
    """Return the error that says why nothing may begin or be answered."""
    if table_state.is_house_stopped:
        return HouseStopped()
    if table_state.live_table.stopped_by_id is not None:
        return TableStopped()
    return TablePaused() if does_pause(table_state) else TableClosed()


def may_go_on(table_state: TableState) -> bool:
    """Return whether the pending question may be answered now."""
    if table_state.live_table.stopped_by_id is None:
        return table_state.in_coup or _takes_bets(table_state)
    live_round = table_state.live_round
    if live_round is None or live_round.phase != RoundPhase.DEALT:
        return False
    return not unruled().filter(live_round=live_round).exists()


def _takes_bets(table_state: TableState) -> bool:
    return not table_state.is_house_stopped and takes_bets(table_state.live_table.table, table_state.mode)


def is_waited_for(table_state: TableState, seat: CheminSeat) -> bool:
    """Return whether a waiting table would move on if this player were no longer asked."""
    stands_still = table_state.live_table.stopped_by_id is not None or is_paused(table_state)
    return stands_still and table_state.state.asked == seat.number and table_state.state.phase in ANSWERS_BEGIN


def demand_to_leave(table_state: TableState, seat: CheminSeat) -> None:
    """Raise the error of `why_not` where a waiting table would move on because this player leaves."""
    if is_waited_for(table_state, seat):
        raise why_not(table_state)


def is_too_late(table_state: TableState) -> bool:
    """Return whether the deadline of the pending question has passed, by the database's clock."""
    deadline = table_state.chemin.deadline
    return table_state.state.turn is not None and deadline is not None and clock.now() >= deadline
