"""Who sits where, in which order they are asked, and the chips that go to and fro between seats and croupier."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from games.engine.chemin.events import GuestLeft
from games.engine.chemin.refusals import Refusal, Refused
from games.engine.chemin.rules import FEWEST_GUESTS
from games.engine.chemin.state import Presence, Seat, State
from games.engine.chemin.steps import Step


def in_order(state: State) -> tuple[Seat, ...]:
    """The guests in the order they are asked: from the right of the banker on, the banker himself last.

    Places are numbered to the right, the way the shoe travels.
    """
    return tuple(sorted(state.seats, key=lambda seat: turns_from_banker(state, seat.number)))


def turns_from_banker(state: State, number: int) -> int:
    """How many places lie between the banker, or whoever was it last, and this place; none for the next one."""
    return (number - state.last_banker - 1) % state.rules.places


def too_few_guests(state: State) -> bool:
    """Whether nobody is left to play against."""
    return len(state.seats) < FEWEST_GUESTS


def put_down(state: State, number: int, amount: int) -> State:
    """Take chips from a guest to lay them before the croupier. Raises Refused: there is no credit."""
    if amount <= 0:
        raise Refused(Refusal.BAD_AMOUNT)
    if amount > state.seat(number).balance:
        raise Refused(Refusal.NOT_COVERED)
    return _move(state, number, -amount)


def hand_back(state: State, number: int, amount: int) -> State:
    """Give chips to a guest."""
    return _move(state, number, amount)


def change_seat(state: State, changed: Seat) -> State:
    """The table with one seat as it is now."""
    return replace(state, seats=tuple(changed if seat.number == changed.number else seat for seat in state.seats))


def dismiss(state: State, number: int) -> Step:
    """Let a guest go, with what is his."""
    gone = state.seat(number)
    seats = tuple(seat for seat in state.seats if seat is not gone)
    return Step(replace(state, seats=seats), (GuestLeft(number, gone.balance),))


def dismiss_leaving(state: State) -> Step:
    """Let everyone go who wanted to leave while the coup was on."""
    step = Step(state)
    for seat in state.seats:
        if seat.presence is Presence.LEAVING:
            step = step.then(partial(dismiss, number=seat.number))
    return step


def _move(state: State, number: int, amount: int) -> State:
    seat = state.seat(number)
    return change_seat(state, replace(seat, balance=seat.balance + amount))
