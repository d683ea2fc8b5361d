"""Seats and tenures of a table after a move, as its events say. `games_store_move` stores the same."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from games.chemin.transition import Transition
from games.engine.chemin.events import (
    BankEnded,
    BankTaken,
    ExcessTakenHome,
    PlayerAway,
    PlayerBack,
    PlayerJoined,
    PlayerLeft,
    PlayerWillLeave,
)
from games.models import CheminSeat, CheminTenure, Decider

Seats = Mapping[int, CheminSeat]


def sit_down(transition: Transition, newcomer: CheminSeat | None) -> Seats:
    """Return the seats including a player who sits down in this move."""
    if newcomer is None or transition.first(PlayerJoined) is None:
        return transition.before.seats
    newcomer.joined_at = transition.at
    return {**transition.before.seats, newcomer.number: newcomer}


def follow(transition: Transition, seats: Seats) -> Seats:
    """Note who left, went away, came back or missed a turn; return the remaining seats."""
    _note_turn(transition, seats)
    for event in transition.events:
        match event:
            case PlayerWillLeave(seat_number):
                _keep(seats[seat_number], why_left=transition.why)
            case PlayerAway(seat_number):
                _keep(seats[seat_number], away_since=transition.at)
            case PlayerBack(seat_number):
                _keep(seats[seat_number], away_since=None, why_left="", missed=0)
            case PlayerLeft(seat_number):
                _keep(seats[seat_number], left_at=transition.at, why_left=seats[seat_number].why_left or transition.why)
            case _:
                pass
    return {seat_number: seat for seat_number, seat in seats.items() if seat.left_at is None}


def begin_tenure(transition: Transition) -> CheminTenure | None:
    """Begin the tenure of the player who took the bank in this move, or return the present one.

    The account of the bank is opened when it is paid (`games.chemin.money.move`). One move never
    begins and ends tenures of two players: a player who takes over a bank is asked first.
    """
    taken = transition.first(BankTaken)
    if taken is None:
        return transition.before.tenure
    before = transition.before
    return CheminTenure(
        id=uuid4(),
        live_table=before.live_table,
        seat=before.seats[taken.seat],
        put_up=taken.amount,
        began_at=transition.at,
    )


def note_home(transition: Transition, tenure: CheminTenure | None) -> CheminTenure | None:
    """Note what the bank paid out to its owner; return the tenure unless it has ended."""
    home = sum(event.amount for event in transition.events if isinstance(event, BankEnded | ExcessTakenHome))
    has_ended = transition.first(BankEnded) is not None
    if tenure is None or not (home or has_ended):
        return tenure
    tenure.home += home
    tenure.ended_at = transition.at if has_ended else None
    return None if has_ended else tenure


def _note_turn(transition: Transition, seats: Seats) -> None:
    """Count consecutive turns that the croupier took for a player who sits there and plays."""
    if transition.seat_number is None or transition.decider not in (Decider.CROUPIER, Decider.PLAYER):
        return
    seat = seats[transition.seat_number]
    if transition.decider is Decider.PLAYER:
        if transition.answers and seat.missed:
            _keep(seat, missed=0)
    elif seat.away_since is None and seat.why_left == "":
        _keep(seat, missed=seat.missed + 1)


def _keep(seat: CheminSeat, **changed: object) -> None:
    for name, value in changed.items():
        setattr(seat, name, value)
