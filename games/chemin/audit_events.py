"""What of a move goes into the event log: who came and went, and whose the bank was. Coups are recorded where they
begin and end. No event tells a card before its coup is over, nor what a guest has.
"""

from __future__ import annotations

from audit import log
from audit.log import Json
from games.chemin.seats import Seats
from games.chemin.transition import Moved
from games.engine.chemin.events import (
    BankEnded,
    BankTaken,
    ExcessTakenHome,
    GuestAway,
    GuestBack,
    GuestJoined,
    GuestLeft,
)
from games.engine.chemin.state import there
from games.models import CheminSeat, CheminTenure, Decider
from games.shared.shoes import SYSTEM


def record(moved: Moved, seats: Seats, tenure: CheminTenure | None) -> None:
    """Record what happened in a move, with *seats* as they were in it and the *tenure* it belongs to."""
    for event in moved.events:
        match event:
            case GuestJoined(place):
                _of_guest(moved, "guest.joined", seats[place], {"is_random": seats[place].is_random})
            case GuestAway(place):
                _of_guest(moved, "guest.away", seats[place], {"missed": seats[place].missed})
            case GuestBack(place):
                _of_guest(moved, "guest.back", seats[place], {})
            case GuestLeft(place):
                _of_guest(moved, "guest.left", seats[place], {"why": seats[place].why_left})
            case BankTaken(place, amount):
                _of_guest(moved, "bank.taken", seats[place], _of_bank(tenure, amount))
            case ExcessTakenHome(place, amount):
                _of_guest(moved, "bank.excess", seats[place], _of_bank(tenure, amount))
            case BankEnded(place, amount):
                _of_guest(moved, "bank.ended", seats[place], _of_bank(tenure, amount))
            case _:
                pass


def _of_bank(tenure: CheminTenure | None, amount: int) -> dict[str, Json]:
    return {"amount": amount, "tenure": str(there(tenure).pk)}


def _of_guest(moved: Moved, kind: str, seat: CheminSeat, data: dict[str, Json]) -> None:
    by = str(seat.player) if seat.player and moved.decider is Decider.GUEST and moved.place == seat.number else SYSTEM
    who = f"player:{seat.player_id}" if seat.player_id else None
    guest = {"number": seat.number, "player": who, "seat": seat.pk}
    log.record(kind, by=by, on=f"live_table:{seat.live_table_id}", data={**guest, **data})
