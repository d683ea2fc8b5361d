"""How long whoever is asked has for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from games.chemin.table_state import Standing
from games.chemin.transition import Moved
from games.engine.chemin import Phase, Presence
from games.engine.chemin.events import CoupAnnulled, Settled
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
"""Which time of the table's clock a question has."""


def ask(standing: Standing, moved: Moved) -> datetime | None:
    """Ask what *standing* asks once a move has led there, unless it was asked before, and return until when: the time
    to look at a coup that has just ended comes on top. None where nobody is asked.
    """
    chemin = standing.chemin
    if not moved.asks_anew:
        return chemin.deadline
    length = _length(standing)
    if length is not None and (moved.first(Settled) or moved.first(CoupAnnulled)):
        length += standing.clock.pause
    chemin.question += 1
    chemin.asked_at = moved.at
    chemin.deadline = None if length is None else moved.at + timedelta(milliseconds=length)
    return chemin.deadline


def ask_anew(standing: Standing) -> None:
    """Give whoever is asked all of the time again, since the house stood still. It is the same question."""
    chemin, length, moment = standing.chemin, _length(standing), clock.now()
    if length is None:
        return
    chemin.asked_at, chemin.deadline = moment, moment + timedelta(milliseconds=length)
    chemin.save(update_fields=["asked_at", "deadline"])
    if standing.live_round is not None:
        standing.live_round.deadline = chemin.deadline
        standing.live_round.save(update_fields=["deadline"])
    notify.tell(standing.live_table.pk)


def _length(standing: Standing) -> int | None:
    """Return how many milliseconds the question waits. Nobody waits long for a house player, or for a guest who is
    going: the croupier decides for them. A free bank waits for anyone, and then for a house player.
    """
    state, waits = standing.state, standing.clock
    if state.phase is Phase.FREE:
        is_company = any(seat.player_id is None for seat in standing.seats.values())
        return waits.house_player if is_company else None
    seat = standing.asked
    if seat is None:
        return None
    if seat.player_id is None or state.seat(seat.number).presence is Presence.LEAVING:
        return waits.house_player
    length: int = getattr(waits, WAITS[state.phase])
    return length
