"""How one phase follows another: who is asked what, and what happens when all have been asked.

A bank taken leads to calls, calls to stakes, stakes to cards; a bank passed on to its sale at the full amount, to an
auction, and back to an offer from the minimum.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from games.engine.chemin.actions import Pass
from games.engine.chemin.events import Announced, Announcement, BankEnded, BankTaken, BidReturned, Passed
from games.engine.chemin.rules import Call
from games.engine.chemin.seats import dismiss_leaving, hand_back, in_order, put_down, too_few_guests, turns_from_banker
from games.engine.chemin.state import Chips, Coup, Phase, Presence, Sale, Seat, State
from games.engine.chemin.steps import Step

IN_COUP: Final = frozenset({Phase.CALLS, Phase.STAKES, Phase.CARDS, Phase.PUNTER, Phase.BANKER})
"""The phases of a coup, from the first call to its last card."""


def ask_next(state: State) -> Step:
    """Turn to the next seat that can answer; where none is left, to what the phase leads to.

    A seat that could only let pass (its balance covers nothing that is asked) is not kept waiting for. Who sits down
    before the turn has come to his place is asked like the others.
    """
    number = _next_to_ask(state)
    state = replace(state, asked=number)
    if number is not None:
        return Step(state)
    match state.phase:
        case Phase.OFFER:
            return _leave_bank_free(state)
        case Phase.SUITE:
            return _auction(state)
        case Phase.AUCTION:
            return _award(state)
        case Phase.CALLS:
            return open_stakes(state)
        case _:
            return _close_stakes(state)


def let_pass(state: State, action: Pass) -> Step:
    """The seat whose turn it is lets go by what it is asked."""
    return Step(state, (Passed(seat=action.seat, phase=state.phase),)).then(ask_next)


def offer_bank(state: State) -> Step:
    """Offer the bank from the minimum on, beginning with the next seat; the last banker is the last to be asked."""
    if too_few_guests(state):
        return close_table(state)
    return _put(state, Phase.OFFER, Announced(Announcement.WHO_TAKES_THE_BANK, state.rules.minimum))


def install_banker(state: State, number: int, amount: int) -> Step:
    """Make this seat banker with this much in the bank."""
    state = put_down(state, number, amount)
    state = replace(state, bank=Chips(number, amount), last_banker=number, asked=None, sale=None)
    return Step(state, (BankTaken(number, amount),)).then(begin_coup)


def end_bank(state: State) -> Step:
    """The banker takes home what is in the bank, and is banker no longer."""
    bank = state.held_bank
    state = replace(hand_back(state, bank.seat, bank.amount), bank=None)
    return Step(state, (BankEnded(bank.seat, bank.amount),))


def sell_bank(state: State) -> Step:
    """End the bank and offer it to the others at the amount it held."""
    full_amount = state.held_bank.amount
    return end_bank(state).then(dismiss_leaving).then(partial(_offer_at, full_amount=full_amount))


def close_table(state: State) -> Step:
    """Stop for want of guests: the bank goes home, so do bids, and the table waits for a second guest."""
    step = Step(state) if state.bank is None else end_bank(state)
    return step.then(_return_bids).then(_wait_for_guests)


def begin_coup(state: State) -> Step:
    """Ask each seat once, from the banker's right, for a call; but never from a spent shoe."""
    if state.shoe is None or state.shoe.spent:
        return Step(replace(state, phase=Phase.SHOE), (Announced(Announcement.SHOE_IS_SPENT),))
    question = Announced(Announcement.WHO_CALLS_BANCO, state.held_bank.amount)
    return _put(replace(state, coup=Coup()), Phase.CALLS, question)


def open_stakes(state: State) -> Step:
    """Ask in turn, from the banker's right, for what is not covered yet: all of it, or what the call leaves."""
    return _put(state, Phase.STAKES, Announced(Announcement.FAITES_VOS_JEUX, open_amount(state)))


def open_amount(state: State) -> int:
    """How much of the bank may still be staked by whoever is asked next."""
    coup, bank = state.running_coup, state.held_bank.amount
    if coup.call is not None and coup.call.covers_the_bank:
        joined = sum(stake.amount for stake in coup.stakes[1:])
        return coup.call.share_for_others(bank) - joined
    return bank - coup.at_risk


def after_coup(state: State) -> Step:
    """Between coups: a lost bank is offered on, any other is its banker's to keep or to pass on."""
    if state.bank is None:
        return dismiss_leaving(state).then(offer_bank)
    if state.seat(state.bank.seat).presence is Presence.LEAVING:
        return sell_bank(state)
    return dismiss_leaving(state).then(_let_banker_choose)


def _put(state: State, phase: Phase, question: Announced) -> Step:
    """Begin to ask what a phase asks; a question that nobody can answer is not spoken."""
    state = replace(state, phase=phase, asked=None)
    heard = _next_to_ask(state) is not None
    return Step(state, (question,) if heard else ()).then(ask_next)


def _next_to_ask(state: State) -> int | None:
    """The first seat that can answer, to the right of whoever was asked last."""
    asked = -1 if state.asked is None else turns_from_banker(state, state.asked)
    for seat in in_order(state):
        if turns_from_banker(state, seat.number) > asked and _can_answer(state, seat):
            return seat.number
    return None


def _can_answer(state: State, seat: Seat) -> bool:
    if seat.presence is not Presence.PLAYING:
        return False
    if state.phase is Phase.OFFER:
        return seat.balance >= state.rules.minimum
    if seat.number == state.last_banker:
        return False
    match state.phase:
        case Phase.SUITE:
            return seat.balance >= state.offered_sale.full_amount
        case Phase.AUCTION:
            return seat.balance >= state.rules.minimum < state.offered_sale.full_amount
        case Phase.CALLS:
            return seat.balance >= min(call.smallest_stake(state.held_bank.amount) for call in Call)
        case _:
            return seat.balance > 0 and open_amount(state) > 0 and seat.number != state.running_coup.caller


def _wait_for_guests(state: State) -> Step:
    return Step(replace(state, phase=Phase.GUESTS, asked=None), (Announced(Announcement.WAITING_FOR_GUESTS),))


def _leave_bank_free(state: State) -> Step:
    return Step(replace(state, phase=Phase.FREE), (Announced(Announcement.BANK_IS_FREE, state.rules.minimum),))


def _offer_at(state: State, full_amount: int) -> Step:
    if too_few_guests(state):
        return close_table(state)
    question = Announced(Announcement.BANK_AT_ITS_FULL_AMOUNT, full_amount)
    return _put(replace(state, sale=Sale(full_amount)), Phase.SUITE, question)


def _auction(state: State) -> Step:
    return _put(state, Phase.AUCTION, Announced(Announcement.BANK_TO_THE_HIGHEST_BID, state.rules.minimum))


def _award(state: State) -> Step:
    """The highest bid wins, of equal ones the first made, which is the earlier seat's."""
    bids = state.offered_sale.bids
    step = _return_bids(state)
    if not bids:
        return step.then(offer_bank)
    best = max(bids, key=lambda bid: bid.amount)
    return step.then(partial(install_banker, number=best.seat, amount=best.amount))


def _return_bids(state: State) -> Step:
    if state.sale is None:
        return Step(state)
    bids = state.sale.bids
    for bid in bids:
        state = hand_back(state, bid.seat, bid.amount)
    return Step(replace(state, sale=None), tuple(BidReturned(bid.seat, bid.amount) for bid in bids))


def _close_stakes(state: State) -> Step:
    coup = state.running_coup
    if not coup.stakes:
        return Step(replace(state, coup=None), (Announced(Announcement.NO_STAKES_NO_COUP),)).then(after_coup)
    said = (Announced(Announcement.RIEN_NE_VA_PLUS, coup.at_risk), Announced(Announcement.BITTE_DIE_KARTEN))
    return Step(replace(state, phase=Phase.CARDS), said)


def _let_banker_choose(state: State) -> Step:
    if too_few_guests(state):
        return close_table(state)
    return Step(replace(state, phase=Phase.CHOICE))
