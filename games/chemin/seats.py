"""Seat and tenure rows of a table, updated from the events of a move."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from games.chemin.transition import Moved
from games.engine.chemin.events import (
    BankEnded,
    BankTaken,
    ExcessTakenHome,
    GuestAway,
    GuestBack,
    GuestJoined,
    GuestLeft,
    GuestWillLeave,
)
from games.models import CheminSeat, CheminTenure, Decider
from wallet.ledger import accounts
from wallet.models import AccountKind

Seats = Mapping[int, CheminSeat]


def sit_down(moved: Moved, newcomer: CheminSeat | None) -> Seats:
    """Return the seats including a player who sits down in this move, whose row is created."""
    if newcomer is None or moved.first(GuestJoined) is None:
        return moved.before.seats
    newcomer.joined_at = moved.at
    newcomer.save(force_insert=True)
    return {**moved.before.seats, newcomer.number: newcomer}


def follow(moved: Moved, seats: Seats) -> Seats:
    """Store who left, went away, came back or missed a turn; return the remaining seats."""
    _note_turn(moved, seats)
    for event in moved.events:
        match event:
            case GuestWillLeave(place):
                _keep(seats[place], why_left=moved.why)
            case GuestAway(place):
                _keep(seats[place], away_since=moved.at)
            case GuestBack(place):
                _keep(seats[place], away_since=None, why_left="", missed=0)
            case GuestLeft(place):
                _keep(seats[place], left_at=moved.at, why_left=seats[place].why_left or moved.why)
            case _:
                pass
    return {place: seat for place, seat in seats.items() if seat.left_at is None}


def begin_tenure(moved: Moved) -> CheminTenure | None:
    """Begin the tenure of the player who took the bank in this move, with an account; or return the present one.

    One move never begins and ends tenures of two players: a player who takes over a bank is asked
    first.
    """
    taken = moved.first(BankTaken)
    if taken is None:
        return moved.before.tenure
    before, seat, tenure_id = moved.before, moved.before.seats[taken.seat], uuid4()
    account_id = accounts.open_standing(
        AccountKind.BANK, tenure_id, currency=before.rules.currency, mode=before.mode, owner_id=seat.player_id
    )
    return CheminTenure.objects.create(
        id=tenure_id,
        live_table=before.live_table,
        seat=seat,
        account_id=account_id,
        put_up=taken.amount,
        began_at=moved.at,
    )


def note_home(moved: Moved, tenure: CheminTenure | None) -> CheminTenure | None:
    """Store what the bank paid out to its owner; return the tenure unless it has ended."""
    home = sum(event.amount for event in moved.events if isinstance(event, BankEnded | ExcessTakenHome))
    has_ended = moved.first(BankEnded) is not None
    if tenure is None or not (home or has_ended):
        return tenure
    tenure.home += home
    tenure.ended_at = moved.at if has_ended else None
    tenure.save(update_fields=["home", "ended_at"])
    return None if has_ended else tenure


def _note_turn(moved: Moved, seats: Seats) -> None:
    """Count consecutive turns that the croupier took for a player who sits there and plays."""
    if moved.place is None or moved.decider not in (Decider.CROUPIER, Decider.GUEST):
        return
    seat = seats[moved.place]
    if moved.decider is Decider.GUEST:
        if moved.answers and seat.missed:
            _keep(seat, missed=0)
    elif seat.away_since is None and seat.why_left == "":
        _keep(seat, missed=seat.missed + 1)


def _keep(seat: CheminSeat, **changed: object) -> None:
    for name, value in changed.items():
        setattr(seat, name, value)
    seat.save(update_fields=list(changed))
