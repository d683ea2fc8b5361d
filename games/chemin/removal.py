"""Removal of players from a table by the house.

Players are removed when they are away for too long, when their session ends, when the table no
longer serves them, and when the table closes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.db import connection

from games.betting.eligibility import serves
from games.chemin.apply import carry_out
from games.chemin.availability import does_pause, is_waited_for
from games.chemin.table_state import Standing
from games.engine.chemin.actions import BreakUp, Leave
from games.engine.chemin.state import there
from games.models import CheminSeat, Decider, WhyLeft
from games.tables import clock
from players.protection.stream_access import STILL_WATCHING, asked


def send_away(standing: Standing, *, place: int, why: WhyLeft = WhyLeft.SESSION) -> Standing:
    """Have the player at a seat leave, at once or after the coup in which they take part."""
    seat = standing.seats.get(place)
    if seat is None or seat.why_left:
        return standing
    return carry_out(standing, Leave(place), decider=Decider.HOUSE, why=why)


def send_all_away(standing: Standing) -> Standing:
    """Have all players leave a closed table between two coups. The bank goes to its owner."""
    return carry_out(standing, BreakUp(), decider=Decider.HOUSE, why=WhyLeft.CLOSED)


def remove(standing: Standing) -> Standing:
    """Remove players whose session is over, whom the table no longer serves, or who were away too long.

    The time away does not run while the table is paused. A player for whom a waiting table waits is
    removed once it moves on.
    """
    gone, longest = whose_session_is_over(standing.seats.values()), timedelta(milliseconds=standing.clock.removal)
    in_force = there(standing.live_table.table.version)
    for seat in list(standing.seats.values()):
        if is_waited_for(standing, seat):
            continue
        if seat.pk in gone:
            standing = send_away(standing, place=seat.number)
        elif seat.player and not serves(in_force, seat.player.jurisdiction_id):
            standing = send_away(standing, place=seat.number, why=WhyLeft.UNSERVED)
        elif seat.away_since and not does_pause(standing) and clock.now() - seat.away_since >= longest:
            standing = send_away(standing, place=seat.number, why=WhyLeft.REMOVED)
    return standing


def whose_session_is_over(seats: Iterable[CheminSeat]) -> set[int]:
    """Return the ids of seats whose player has logged out, was inactive for too long, or may not play now."""
    sessions = {seat.pk: seat.session for seat in seats if seat.session is not None and seat.why_left == ""}
    over = _over(set(sessions.values()))
    return {seat_id for seat_id, session in sessions.items() if session in over}


def _over(sessions: set[UUID]) -> set[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(STILL_WATCHING, asked(sessions))
        return sessions - {session for (session,) in cursor.fetchall()}
