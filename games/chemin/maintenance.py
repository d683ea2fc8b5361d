"""Upkeep of a table after every move: have a new shoe cut and bring it, and seat house players at practice tables."""

from __future__ import annotations

import secrets
from uuid import NAMESPACE_URL, uuid5

from games.chemin import moves, shoes
from games.chemin.apply import carry_out
from games.chemin.availability import may_begin
from games.chemin.state.table_state import TableState
from games.engine.chemin import Phase
from games.engine.chemin.actions import BringShoe, Join, Leave, SetBalance
from games.engine.chemin.state import there
from games.models import CheminSeat, Decider, ShoeEnding, WhyLeft
from games.rounds.integrity import NotReproduced
from games.shared import malfunction
from games.shared.shoes import SYSTEM, bring


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
        doubt = NotReproduced("The coups do not match the seed of the shoe.", *found)
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
