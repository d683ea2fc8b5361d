"""What is played for: the one call that may stand, and stakes laid down one after another."""

from __future__ import annotations

from dataclasses import replace

from games.engine.chemin.actions import LayStake, MakeCall
from games.engine.chemin.events import CallMade, Event, StakeLaid, StakeRelieved
from games.engine.chemin.phases import ask_next, open_amount, open_stakes
from games.engine.chemin.refusals import Refusal, Refused
from games.engine.chemin.rules import Call
from games.engine.chemin.seats import hand_back, put_down
from games.engine.chemin.state import Chips, State
from games.engine.chemin.steps import Step


def make_call(state: State, action: MakeCall) -> Step:
    """The first call stands: nobody is asked for another, and the others are asked to join it.

    Who answers for the whole bank puts all of it down, and gets back what others take over.
    """
    amount = _called_amount(state, action)
    state = put_down(state, action.seat, amount)
    coup = replace(state.running_coup, call=action.call, stakes=(Chips(action.seat, amount),))
    state = replace(state, coup=coup)
    return Step(state, (CallMade(action.seat, action.call, amount),)).then(open_stakes)


def lay_stake(state: State, action: LayStake) -> Step:
    """Stake against the bank, or join the call that stands; never more than is open."""
    if action.amount > open_amount(state):
        raise Refused(Refusal.MORE_THAN_IS_OPEN)
    state = put_down(state, action.seat, action.amount)
    laid = StakeLaid(action.seat, action.amount)
    coup = state.running_coup
    state = replace(state, coup=replace(coup, stakes=(*coup.stakes, Chips(action.seat, action.amount))))
    return Step(state, (laid,)).then(_relieve_caller).then(ask_next)


def _called_amount(state: State, action: MakeCall) -> int:
    bank = state.held_bank.amount
    if action.call is not Call.BANCO_AVEC_LA_TABLE:
        if action.amount is not None:
            raise Refused(Refusal.BAD_AMOUNT)
        return bank
    if action.amount is None:
        raise Refused(Refusal.BAD_AMOUNT)
    if action.amount < action.call.smallest_stake(bank):
        raise Refused(Refusal.LESS_THAN_HALF)
    if action.amount > bank:
        raise Refused(Refusal.MORE_THAN_IS_OPEN)
    return action.amount


def _relieve_caller(state: State) -> Step:
    """Where the caller covers the bank, what the last stake takes over goes back to him."""
    coup = state.running_coup
    if coup.call is None or not coup.call.covers_the_bank:
        return Step(state)
    called, *joined = coup.stakes
    amount = joined[-1].amount
    state = hand_back(state, called.seat, amount)
    relieved = (Chips(called.seat, called.amount - amount), *joined)
    events: tuple[Event, ...] = (StakeRelieved(called.seat, amount),)
    return Step(replace(state, coup=replace(coup, stakes=relieved)), events)
