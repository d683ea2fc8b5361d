"""The bank: taken, passed on, bid for, kept."""

from __future__ import annotations

from dataclasses import replace

from games.engine.chemin.actions import GiveSuite, KeepBank, MakeBid, TakeBank
from games.engine.chemin.events import BankKept, BidMade, SuiteGiven
from games.engine.chemin.phases import ask_next, begin_coup, install_banker, sell_bank
from games.engine.chemin.refusals import Refusal, Refused
from games.engine.chemin.seats import put_down
from games.engine.chemin.state import Chips, Phase, State
from games.engine.chemin.steps import Step


def take_bank(state: State, action: TakeBank) -> Step:
    """Put up a new bank between the table's limits, or a bank passed on at exactly what it held."""
    if state.phase is Phase.SUITE and action.amount != state.offered_sale.full_amount:
        raise Refused(Refusal.NOT_THE_FULL_AMOUNT)
    if action.amount < state.rules.minimum:
        raise Refused(Refusal.BELOW_MINIMUM)
    if action.amount > state.rules.maximum:
        raise Refused(Refusal.ABOVE_MAXIMUM)
    return install_banker(state, action.seat, action.amount)


def make_bid(state: State, action: MakeBid) -> Step:
    """Bid for a bank nobody took at its full amount. Each seat bids once, aloud, and puts the chips down."""
    sale = state.offered_sale
    if action.amount < state.rules.minimum:
        raise Refused(Refusal.BELOW_MINIMUM)
    if action.amount >= sale.full_amount:
        raise Refused(Refusal.NOT_UNDER_THE_FULL_AMOUNT)
    state = put_down(state, action.seat, action.amount)
    state = replace(state, sale=replace(sale, bids=(*sale.bids, Chips(action.seat, action.amount))))
    return Step(state, (BidMade(action.seat, action.amount),)).then(ask_next)


def keep_bank(state: State, action: KeepBank) -> Step:
    """Play another coup with all that is in the bank: winnings stay in it."""
    return Step(state, (BankKept(seat=action.seat),)).then(begin_coup)


def give_suite(state: State, action: GiveSuite) -> Step:
    """Take the whole bank home and let another guest put up as much."""
    return Step(state, (SuiteGiven(seat=action.seat),)).then(sell_bank)
