"""Seats of a table: their order, and movements of chips between a seat and the croupier."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from games.engine.chemin.events import PlayerLeft, Step
from games.engine.chemin.rules import FEWEST_PLAYERS
from games.engine.chemin.state import Presence, Refusal, Refused, Seat, State


def in_order(state: State) -> tuple[Seat, ...]:
    """Return the players in the order of turns, from the banker's right; the banker is last.

    Seats are numbered to the right, which is the way the shoe moves.
    """
    return tuple(sorted(state.seats, key=lambda seat: turns_from_banker(state, seat.number)))


def turns_from_banker(state: State, number: int) -> int:
    """Return the number of seats between the current or last banker and this seat; zero for the
    next seat.
    """
    return (number - state.last_banker - 1) % state.rules.seat_count


def too_few_players(state: State) -> bool:
    """Return whether there are too few players for a coup."""
    return len(state.seats) < FEWEST_PLAYERS


def put_down(state: State, number: int, amount: int) -> State:
    """Take chips from a player's balance to put them in play.

    Raises Refused if the balance is too low.
    """
    if amount <= 0:
        raise Refused(Refusal.BAD_AMOUNT)
    if amount > state.seat(number).balance:
        raise Refused(Refusal.NOT_COVERED)
    return _move(state, number, -amount)


def hand_back(state: State, number: int, amount: int) -> State:
    """Add chips to a player's balance."""
    return _move(state, number, amount)


def change_seat(state: State, changed: Seat) -> State:
    """Return the table with this seat changed."""
    return replace(state, seats=tuple(changed if seat.number == changed.number else seat for seat in state.seats))


def dismiss(state: State, number: int) -> Step:
    """Remove a player with their balance."""
    gone = state.seat(number)
    seats = tuple(seat for seat in state.seats if seat is not gone)
    return Step(replace(state, seats=seats), (PlayerLeft(number, gone.balance),))


def dismiss_leaving(state: State) -> Step:
    """Remove all players who asked to leave during the coup."""
    step = Step(state)
    for seat in state.seats:
        if seat.presence is Presence.LEAVING:
            step = step.then(partial(dismiss, number=seat.number))
    return step


def _move(state: State, number: int, amount: int) -> State:
    seat = state.seat(number)
    return change_seat(state, replace(seat, balance=seat.balance + amount))
