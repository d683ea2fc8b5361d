"""Actions about seats: join, leave, step away, come back.

Money in play stays there until the coup is over.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from games.engine.chemin.actions import ComeBack, Join, Leave, SetBalance, StepAway
from games.engine.chemin.events import (
    BalanceSet,
    BidReturned,
    PlayerAway,
    PlayerBack,
    PlayerJoined,
    PlayerWillLeave,
    Step,
)
from games.engine.chemin.state import Phase, Presence, Refusal, Refused, Seat, State
from games.engine.chemin.steps.phases import IN_COUP, ask_next, close_table, offer_bank, sell_bank
from games.engine.chemin.steps.seats import change_seat, dismiss, hand_back, too_few_players


def join(state: State, action: Join) -> Step:
    """Sit down on a free seat. With the second player, the bank is offered."""
    if not 1 <= action.seat <= state.rules.seat_count:
        raise Refused(Refusal.NO_SUCH_SEAT)
    if state.find(action.seat) is not None:
        raise Refused(Refusal.SEAT_TAKEN)
    if action.balance < 0:
        raise Refused(Refusal.BAD_AMOUNT)
    seats = (*state.seats, Seat(action.seat, action.balance))
    step = Step(replace(state, seats=seats), (PlayerJoined(action.seat, action.balance),))
    if state.phase is Phase.ALONE and not too_few_players(step.state):
        return step.then(offer_bank)
    return step


def leave(state: State, action: Leave) -> Step:
    """Leave at once with all bids and a bank that is not in play; or after the coup if the player
    takes part in it.
    """
    seat = state.seat(action.seat)
    if seat.presence is Presence.LEAVING:
        raise Refused(Refusal.ALREADY_LEAVING)
    is_banker = state.bank is not None and state.bank.seat == seat.number
    leaving = change_seat(state, replace(seat, presence=Presence.LEAVING))
    if state.phase in IN_COUP and (is_banker or _has_staked(state, seat.number)):
        return Step(leaving, (PlayerWillLeave(seat.number),))
    if is_banker:
        return sell_bank(leaving)
    step = _withdraw_bid(state, seat.number)
    return step.then(partial(dismiss, number=seat.number)).then(partial(_go_on_without, number=seat.number))


def step_away(state: State, action: StepAway) -> Step:
    """Skip all turns. Bets in play stay, and the croupier decides when the time is up."""
    seat = state.seat(action.seat)
    if seat.presence is not Presence.PLAYING:
        raise Refused(Refusal.ALREADY_AWAY)
    step = Step(change_seat(state, replace(seat, presence=Presence.AWAY)), (PlayerAway(seat.number),))
    return step.then(ask_next) if state.asked == seat.number else step


def come_back(state: State, action: ComeBack) -> Step:
    """Take turns again from the next turn on."""
    seat = state.seat(action.seat)
    if seat.presence is Presence.PLAYING:
        raise Refused(Refusal.NOT_AWAY)
    state = change_seat(state, replace(seat, presence=Presence.PLAYING))
    return Step(state, (PlayerBack(seat.number),))


def set_balance(state: State, action: SetBalance) -> Step:
    """Set the balance of a player from the ledger. Money in play is not part of it."""
    seat = state.seat(action.seat)
    if action.balance < 0:
        raise Refused(Refusal.BAD_AMOUNT)
    state = change_seat(state, replace(seat, balance=action.balance))
    return Step(state, (BalanceSet(seat.number, action.balance),))


def _has_staked(state: State, number: int) -> bool:
    return any(stake.seat == number for stake in state.running_coup.stakes)


def _withdraw_bid(state: State, number: int) -> Step:
    sale = state.sale
    if sale is None:
        return Step(state)
    withdrawn = tuple(bid for bid in sale.bids if bid.seat == number)
    for bid in withdrawn:
        state = hand_back(state, number, bid.amount)
    remaining = tuple(bid for bid in sale.bids if bid.seat != number)
    returned = tuple(BidReturned(number, bid.amount) for bid in withdrawn)
    return Step(replace(state, sale=replace(sale, bids=remaining)), returned)


def _go_on_without(state: State, number: int) -> Step:
    """Continue after a player left: close the table if too few are left, else ask the next seat."""
    if too_few_players(state) and state.phase not in IN_COUP | {Phase.ALONE}:
        return close_table(state)
    return ask_next(state) if state.asked == number else Step(state)
