"""Deadlines of the questions that players are asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from games.chemin import moves
from games.chemin.state.table_state import TableState
from games.chemin.transition import Transition
from games.engine.chemin import Phase, Presence
from games.engine.chemin.events import CoupVoided, Settled
from players import notify

WAITS: Final[Mapping[Phase, str]] = {
    Phase.OFFER: "ask",
    Phase.SUITE: "ask",
    Phase.AUCTION: "ask",
    Phase.CALLS: "ask",
    Phase.STAKES: "ask",
    Phase.CARDS: "deal",
    Phase.PUNTER: "decide",
    Phase.BANKER: "decide",
    Phase.CHOICE: "choice",
}
"""The time of the table's clock that applies in each phase."""


def ask(table_state: TableState, transition: Transition) -> datetime | None:
    """Return the deadline of the question that a move led to; None where nobody is asked.

    PostgreSQL stores the same (`games_store_move`). A question that was already pending keeps
    its deadline. After a coup the pause that shows its result is added.
    """
    if not transition.asks_new_question:
        return table_state.chemin.deadline
    length = _length(table_state)
    if length is not None and (transition.first(Settled) or transition.first(CoupVoided)):
        length += table_state.clock.pause
    return None if length is None else transition.at + timedelta(milliseconds=length)


def restart_question(table_state: TableState) -> None:
    """Restart the time of the pending question after a stop or pause. Its number does not change."""
    if _length(table_state) is None:
        return
    moves.ask_again(table_state.chemin)
    notify.notify_table(table_state.live_table.pk)


def _length(table_state: TableState) -> int | None:
    """Return the time of the question in milliseconds, or None.

    House players and leaving players get only the short `house_player` time. A free bank waits
    without a deadline, unless house players sit at the table.
    """
    state, waits = table_state.state, table_state.clock
    if state.phase is Phase.FREE:
        is_company = any(seat.player_id is None for seat in table_state.seats.values())
        return waits.house_player if is_company else None
    seat = table_state.asked
    if seat is None:
        return None
    if seat.player_id is None or state.seat(seat.number).presence is Presence.LEAVING:
        return waits.house_player
    length: int = getattr(waits, WAITS[state.phase])
    return length
