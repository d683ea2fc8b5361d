"""What the house may do to a table as a whole, and no guest: annul a coup, end a bank, break the table up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from games.engine.chemin.events import CoupAnnulled
from games.engine.chemin.phases import IN_COUP, after_coup, close_table, end_bank, offer_bank
from games.engine.chemin.refusals import Refusal, Refused
from games.engine.chemin.seats import dismiss, dismiss_leaving, hand_back
from games.engine.chemin.state import Phase, State
from games.engine.chemin.steps import Step


def annul_coup(state: State) -> Step:
    """Hand every stake back and go on as after a coup that was not lost; the bank holds what it held before.

    Where cards were drawn the shoe is set aside with them: what lay face down is never dealt again.
    """
    if state.phase not in IN_COUP:
        raise Refused(Refusal.NOT_NOW)
    coup = state.running_coup
    for stake in coup.stakes:
        state = hand_back(state, stake.seat, stake.amount)
    shoe = state.shoe if coup.hands is None else None
    state = replace(state, coup=None, shoe=shoe, asked=None)
    return Step(state, (CoupAnnulled(coup.stakes),)).then(after_coup)


def end_bank_early(state: State) -> Step:
    """Between coups: the bank goes home to its banker and is offered to the others, as one that was lost is."""
    if state.phase not in (Phase.SHOE, Phase.CHOICE):
        raise Refused(Refusal.NOT_NOW)
    return end_bank(state).then(dismiss_leaving).then(offer_bank)


def break_up(state: State) -> Step:
    """Between coups: the bank and all bids go home, and every guest gets up with what is his."""
    if state.phase in IN_COUP:
        raise Refused(Refusal.NOT_NOW)
    step = close_table(state)
    for seat in step.state.seats:
        step = step.then(partial(dismiss, number=seat.number))
    return step
