"""Upkeep of a table after every move: have a new shoe cut and bring it, and seat house players at practice
tables. And what may begin, be decided or be left at a table, given its status, incidents and deadline.

A closed table begins no coup but plays a coup in progress to its end. So does a paused table, and
every table during a house stop; between two coups such a table waits. A stopped table waits too,
but plays out a dealt coup once none of its incidents awaits a ruling.
"""

from __future__ import annotations

import secrets
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from django.utils.translation import gettext_noop

from games.chemin import moves, shoes
from games.chemin.apply import carry_out
from games.chemin.state.table_state import TableState
from games.engine.chemin import Phase
from games.engine.chemin.actions import BringShoe, Join, Leave, SetBalance
from games.engine.chemin.state import there
from games.errors import HouseStopped, PlayError, TableClosed, TablePaused, TableStopped
from games.incidents import unruled
from games.models import CheminSeat, Decider, ShoeEnding, WhyLeft
from games.models import Phase as RoundPhase
from games.rounds.integrity import NotReproduced
from games.shared import malfunction
from games.shared.shoes import SYSTEM, bring
from games.solo.seats import pauses, takes_bets
from games.tables import clock


def see_to(table_state: TableState) -> TableState:
    """Carry out what the table needs from the house, and return the new table state."""
    table_state = _company(table_state)
    if table_state.state.phase is Phase.SHOE and may_begin(table_state):
        table_state = _bring_shoe(table_state)
    return table_state


def _bring_shoe(table_state: TableState) -> TableState:
    """End the used shoe, let the players cut a new one, and bring that when it is cut.

    If stored coups do not follow from the seed of the old shoe, which is public from now on, the
    table is stopped instead.
    """
    spent, live_table = table_state.shoe, table_state.live_table
    found = shoes.end(spent, ShoeEnding.CUT_CARD) if spent else ()
    if found:
        doubt = NotReproduced(gettext_noop("The coups do not match the seed of the shoe."), *found)
        live_round = there(live_table.round)
        malfunction.stop(live_round=live_round, kind=doubt.kind, cause=str(doubt), found=found, by=SYSTEM)
        return table_state
    if bring(live_table, has_players=any(map(_may_cut, table_state.seats.values()))) is None:
        return table_state
    return carry_out(table_state, BringShoe(shoes.UNKNOWN), decider=Decider.HOUSE)


def _may_cut(seat: CheminSeat) -> bool:
    """Return whether a player sits at a seat whose browser can add chance to a shoe."""
    return seat.player_id is not None and seat.away_since is None and seat.why_left == ""


def _company(table_state: TableState) -> TableState:
    """Seat house players when the first player sits down, fund them between coups, and remove them with the last."""
    if not table_state.rules.is_practice:
        return table_state
    if all(seat.player_id is None for seat in table_state.seats.values()):
        asked = table_state.state.asked
        # the player who is asked leaves last
        for seat in sorted(_house_seats(table_state), key=lambda each: each.number == asked):
            table_state = carry_out(table_state, Leave(seat.number), decider=Decider.HOUSE, why=WhyLeft.ALONE)
        return table_state
    if may_begin(table_state):
        while len(_house_seats(table_state)) < table_state.rules.house_players and table_state.free_seats():
            table_state = _sit_down(table_state)
    if not table_state.in_coup:
        for seat in _house_seats(table_state):
            table_state = _keep_in_funds(table_state, seat)
    return table_state


def _house_seats(table_state: TableState) -> list[CheminSeat]:
    """Return the house players who are not about to leave."""
    return [seat for seat in table_state.seats.values() if seat.player_id is None and seat.why_left == ""]


def _sit_down(table_state: TableState) -> TableState:
    """Seat a house player at a free seat. Each seat has its own account, funded up to the same amount."""
    seat_number, live_table = secrets.choice(table_state.free_seats()), table_state.live_table
    account_id, free = _fund(table_state, seat_number)
    newcomer = CheminSeat(live_table=live_table, number=seat_number, account_id=account_id, is_random=True)
    return carry_out(table_state, Join(seat_number, free), decider=Decider.HOUSE, newcomer=newcomer)


def _keep_in_funds(table_state: TableState, seat: CheminSeat) -> TableState:
    """Fund a house player that could not cover the largest bank."""
    if table_state.state.seat(seat.number).balance >= table_state.rules.maximum:
        return table_state
    _, free = _fund(table_state, seat.number)
    return carry_out(table_state, SetBalance(seat.number, free), decider=Decider.HOUSE)


def _fund(table_state: TableState, seat_number: int) -> tuple[int, int]:
    live_table_id = table_state.live_table.pk
    house_player = uuid5(NAMESPACE_URL, f"sabot:live_table:{live_table_id}:house_player:{seat_number}")
    return moves.fund_house_player(live_table_id, house_player)


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
    is_halted = table_state.live_table.stopped_by_id is not None or is_paused(table_state)
    return is_halted and table_state.state.asked == seat.number and table_state.state.phase in ANSWERS_BEGIN


def demand_to_leave(table_state: TableState, seat: CheminSeat) -> None:
    """Raise the error of `why_not` where a waiting table would move on because this player leaves."""
    if is_waited_for(table_state, seat):
        raise why_not(table_state)


def is_too_late(table_state: TableState) -> bool:
    """Return whether the deadline of the pending question has passed, by the database's clock."""
    deadline = table_state.chemin.deadline
    return table_state.state.turn is not None and deadline is not None and clock.now() >= deadline
