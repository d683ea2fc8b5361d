"""Deadlines of the questions that players are asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from games.chemin.table_state import TableState
from games.chemin.transition import Transition
from games.engine.chemin import Phase, Presence
from games.engine.chemin.events import CoupVoided, Settled
from games.shared import moves
from games.tables import clock, notify

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
    """Set the deadline of the question that a move led to, and return it; None where nobody is asked.

    A question that was already pending keeps its deadline. After a coup the pause that shows its
    result is added.
    """
    chemin = table_state.chemin
    if not transition.asks_anew:
        return chemin.deadline
    length = _length(table_state)
    if length is not None and (transition.first(Settled) or transition.first(CoupVoided)):
        length += table_state.clock.pause
    chemin.question += 1
    chemin.asked_at = transition.at
    chemin.deadline = None if length is None else transition.at + timedelta(milliseconds=length)
    return chemin.deadline


def ask_anew(table_state: TableState) -> None:
    """Restart the time of the pending question after a stop or pause. Its number does not change."""
    chemin, length, moment = table_state.chemin, _length(table_state), clock.now()
    if length is None:
        return
    chemin.asked_at, chemin.deadline = moment, moment + timedelta(milliseconds=length)
    chemin.save(update_fields=["asked_at", "deadline"])
    if table_state.live_round is not None:
        moves.ask_again(table_state.live_round, chemin.deadline)
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
