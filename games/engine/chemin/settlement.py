"""Who won, what comes back to whom, and the tax."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from games.engine.chemin.events import ExcessTakenHome, Settled, SettledStake
from games.engine.chemin.phases import after_coup, end_bank
from games.engine.chemin.rules import STAKES_RETURNED, Outcome, outcome_of, tax_on
from games.engine.chemin.seats import hand_back
from games.engine.chemin.state import Chips, State
from games.engine.chemin.steps import Step


class Reckoning(NamedTuple):
    """What an outcome makes of the stakes: every stake with what comes back, the tax, and by how much the bank grows
    (below zero: shrinks).
    """

    stakes: tuple[SettledStake, ...]
    tax: int
    to_bank: int


def reckon(outcome: Outcome, stakes: Iterable[Chips]) -> Reckoning:
    """Winners are paid even money, a draw returns its stakes, and a bank that wins gets what was staked, less tax."""
    settled = tuple(SettledStake(each.seat, each.amount, each.amount * STAKES_RETURNED[outcome]) for each in stakes)
    at_risk = sum(stake.stake for stake in settled)
    tax = tax_on(at_risk) if outcome is Outcome.BANKER else 0
    return Reckoning(settled, tax, at_risk - sum(stake.returned for stake in settled) - tax)


def settle(state: State) -> Step:
    """Pay the coup. A lost bank ends: what was not covered goes home with its banker."""
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
    """What the bank holds beyond the table's maximum goes to the banker."""
    bank = state.held_bank
    excess = bank.amount - state.rules.maximum
    if excess <= 0:
        return Step(state)
    state = replace(hand_back(state, bank.seat, excess), bank=Chips(bank.seat, state.rules.maximum))
    return Step(state, (ExcessTakenHome(bank.seat, excess),))
