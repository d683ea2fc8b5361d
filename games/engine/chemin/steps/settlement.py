"""Stakes and settlement of a coup: calls, stakes, outcome, returned stakes, and tax."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from games.engine.chemin.actions import LayStake, MakeCall
from games.engine.chemin.events import (
    CallMade,
    Event,
    ExcessTakenHome,
    Settled,
    SettledStake,
    StakeLaid,
    StakeRelieved,
    Step,
)
from games.engine.chemin.rules import STAKES_RETURNED, Call, Outcome, outcome_of, tax_on
from games.engine.chemin.state import Chips, Refusal, Refused, State
from games.engine.chemin.steps.phases import after_coup, ask_next, end_bank, open_amount, open_stakes
from games.engine.chemin.steps.seats import hand_back, put_down


class Reckoning(NamedTuple):
    """The result of an outcome for the stakes: the returned amounts, the tax, and the change of the
    bank.

    `to_bank` is below zero if the bank shrinks.
    """

    stakes: tuple[SettledStake, ...]
    tax: int
    to_bank: int


def reckon(outcome: Outcome, stakes: Iterable[Chips]) -> Reckoning:
    """Settle stakes: even money if the punter wins, stakes back on a draw, stakes less tax to the
    bank if the banker wins.
    """
    settled = tuple(SettledStake(each.seat, each.amount, each.amount * STAKES_RETURNED[outcome]) for each in stakes)
    at_risk = sum(stake.stake for stake in settled)
    tax = tax_on(at_risk) if outcome is Outcome.BANKER else 0
    return Reckoning(settled, tax, at_risk - sum(stake.returned for stake in settled) - tax)


def settle(state: State) -> Step:
    """Pay the coup. A lost bank ends, and its uncovered part is returned to the banker."""
    coup, hands, bank = state.running_coup, state.dealt_hands, state.held_bank
    outcome = outcome_of(hands.punter.total, hands.banker.total)
    stakes, tax, to_bank = reckon(outcome, coup.stakes)
    holds = bank.amount + to_bank
    for stake in stakes:
        state = hand_back(state, stake.seat, stake.returned)
    state = replace(state, bank=Chips(bank.seat, holds), coup=replace(coup, outcome=outcome))
    settled = Settled(outcome, hands.punter.total, hands.banker.total, stakes, tax, holds)
    ended = end_bank if outcome is Outcome.PUNTER else _cap_bank
    return Step(state, (settled,)).then(ended).then(after_coup)


def _cap_bank(state: State) -> Step:
    """Return the part of the bank above the table's maximum to the banker."""
    bank = state.held_bank
    excess = bank.amount - state.rules.maximum
    if excess <= 0:
        return Step(state)
    state = replace(hand_back(state, bank.seat, excess), bank=Chips(bank.seat, state.rules.maximum))
    return Step(state, (ExcessTakenHome(bank.seat, excess),))


def make_call(state: State, action: MakeCall) -> Step:
    """Make the call.

    Only the first call counts: no other seat is asked to call, and the others may join it.

    A caller who covers the whole bank puts all of it down and gets back what others take over.
    """
    amount = _called_amount(state, action)
    state = put_down(state, action.seat, amount)
    coup = replace(state.running_coup, call=action.call, stakes=(Chips(action.seat, amount),))
    state = replace(state, coup=coup)
    return Step(state, (CallMade(action.seat, action.call, amount),)).then(open_stakes)


def lay_stake(state: State, action: LayStake) -> Step:
    """Stake against the bank or join the call. Raises Refused above the open amount."""
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
    """If the caller covers the bank, return to the caller the amount that the last stake takes
    over.
    """
    coup = state.running_coup
    if coup.call is None or not coup.call.covers_the_bank:
        return Step(state)
    called, *joined = coup.stakes
    amount = joined[-1].amount
    state = hand_back(state, called.seat, amount)
    relieved = (Chips(called.seat, called.amount - amount), *joined)
    events: tuple[Event, ...] = (StakeRelieved(called.seat, amount),)
    return Step(replace(state, coup=replace(coup, stakes=relieved)), events)
