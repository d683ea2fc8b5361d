"""Who won, what comes back to whom, and the tax."""

from __future__ import annotations

from dataclasses import replace

from games.engine.chemin.events import ExcessTakenHome, Settled, SettledStake
from games.engine.chemin.phases import after_coup, end_bank
from games.engine.chemin.rules import Outcome, outcome_of, tax_on
from games.engine.chemin.seats import hand_back
from games.engine.chemin.state import Chips, State
from games.engine.chemin.steps import Step

_STAKES_RETURNED = {Outcome.PUNTER: 2, Outcome.DRAW: 1, Outcome.BANKER: 0}
"""How many times a punter's stake comes back: with as much again, as it is, or not at all."""


def settle(state: State) -> Step:
    """Pay the coup: winners even money, a draw its stakes, and to the bank what it won less tax.

    A lost bank ends: what was not covered goes home with its banker.
    """
    coup, hands, bank = state.running_coup, state.dealt_hands, state.held_bank
    outcome = outcome_of(hands.punter.total, hands.banker.total)
    stakes = tuple(SettledStake(s.seat, s.amount, s.amount * _STAKES_RETURNED[outcome]) for s in coup.stakes)
    tax = tax_on(coup.at_risk) if outcome is Outcome.BANKER else 0
    returned = sum(stake.returned for stake in stakes)
    holds = bank.amount + coup.at_risk - returned - tax
    for stake in stakes:
        state = hand_back(state, stake.seat, stake.returned)
    state = replace(state, bank=Chips(bank.seat, holds), coup=replace(coup, outcome=outcome))
    settled = Settled(outcome, hands.punter.total, hands.banker.total, stakes, tax, holds)
    ended = end_bank if outcome is Outcome.PUNTER else _cap_bank
    return Step(state, (settled,)).then(ended).then(after_coup)


def _cap_bank(state: State) -> Step:
    """What the bank holds beyond the table's maximum goes to the banker."""
    bank = state.held_bank
    excess = bank.amount - state.rules.maximum
    if excess <= 0:
        return Step(state)
    state = replace(hand_back(state, bank.seat, excess), bank=Chips(bank.seat, state.rules.maximum))
    return Step(state, (ExcessTakenHome(bank.seat, excess),))
