"""Actions on the bank (take, bid, keep, pass on), and house actions on a whole table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from games.engine.chemin.actions import GiveSuite, KeepBank, MakeBid, TakeBank
from games.engine.chemin.events import BankKept, BidMade, CoupVoided, Step, SuiteGiven
from games.engine.chemin.state import Chips, Phase, Refusal, Refused, State
from games.engine.chemin.steps.phases import (
    IN_COUP,
    after_coup,
    ask_next,
    begin_coup,
    close_table,
    end_bank,
    install_banker,
    offer_bank,
    sell_bank,
)
from games.engine.chemin.steps.seats import dismiss, dismiss_leaving, hand_back, put_down


def take_bank(state: State, action: TakeBank) -> Step:
    """Take a new bank between the table's limits, or take over a passed bank at
    exactly its amount.
    """
    if state.phase is Phase.SUITE and action.amount != state.offered_sale.full_amount:
        raise Refused(Refusal.NOT_THE_FULL_AMOUNT)
    if action.amount < state.rules.minimum:
        raise Refused(Refusal.BELOW_MINIMUM)
    if action.amount > state.rules.maximum:
        raise Refused(Refusal.ABOVE_MAXIMUM)
    return install_banker(state, action.seat, action.amount)


def make_bid(state: State, action: MakeBid) -> Step:
    """Bid for a bank that nobody took at its full amount.

    Bids are open; each seat bids once and puts the chips down.
    """
    sale = state.offered_sale
    if action.amount < state.rules.minimum:
        raise Refused(Refusal.BELOW_MINIMUM)
    if action.amount >= sale.full_amount:
        raise Refused(Refusal.NOT_UNDER_THE_FULL_AMOUNT)
    state = put_down(state, action.seat, action.amount)
    state = replace(state, sale=replace(sale, bids=(*sale.bids, Chips(action.seat, action.amount))))
    return Step(state, (BidMade(action.seat, action.amount),)).then(ask_next)


def keep_bank(state: State, action: KeepBank) -> Step:
    """Play another coup with the whole bank, winnings included."""
    return Step(state, (BankKept(seat=action.seat),)).then(begin_coup)


def give_suite(state: State, action: GiveSuite) -> Step:
    """Return the whole bank to the banker and offer it to another player at the same amount."""
    return Step(state, (SuiteGiven(seat=action.seat),)).then(sell_bank)


def void_coup(state: State) -> Step:
    """Return every stake and continue as after a coup that the bank did not lose.

    The bank keeps its amount.

    If cards were dealt, the shoe is discarded too, so face-down cards are never dealt again.
    """
    if state.phase not in IN_COUP:
        raise Refused(Refusal.NOT_NOW)
    coup = state.running_coup
    for stake in coup.stakes:
        state = hand_back(state, stake.seat, stake.amount)
    shoe = state.shoe if coup.hands is None else None
    state = replace(state, coup=None, shoe=shoe, asked=None)
    return Step(state, (CoupVoided(coup.stakes),)).then(after_coup)


def end_bank_early(state: State) -> Step:
    """Return the bank to the banker and offer it to the others, as after a lost bank.

    Allowed between coups.
    """
    if state.phase not in (Phase.SHOE, Phase.CHOICE):
        raise Refused(Refusal.NOT_NOW)
    return end_bank(state).then(dismiss_leaving).then(offer_bank)


def break_up(state: State) -> Step:
    """Return the bank and all bids, and remove every player with their balance.

    Allowed between coups.
    """
    if state.phase in IN_COUP:
        raise Refused(Refusal.NOT_NOW)
    step = close_table(state)
    for seat in step.state.seats:
        step = step.then(partial(dismiss, number=seat.number))
    return step
