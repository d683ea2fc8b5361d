"""Order of the phases: whose turn it is, and what follows when all seats have answered.

After a bank is taken, calls, stakes and cards follow. A bank that is passed on is offered at its
full amount, then auctioned, then offered again from the minimum.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from games.engine.chemin.actions import Pass
from games.engine.chemin.events import Announced, Announcement, BankEnded, BankTaken, BidReturned, Passed, Step
from games.engine.chemin.rules import Call
from games.engine.chemin.state import Chips, Coup, Phase, Presence, Sale, Seat, State
from games.engine.chemin.steps.seats import (
    dismiss_leaving,
    hand_back,
    in_order,
    put_down,
    too_few_players,
    turns_from_banker,
)

IN_COUP: Final = frozenset({Phase.CALLS, Phase.STAKES, Phase.CARDS, Phase.PUNTER, Phase.BANKER})
"""The phases of a coup, from the first call to its last card."""


def ask_next(state: State) -> Step:
    """Turn to the next seat that can answer.

    If there is none, go to the next phase.

    A seat that could only pass, because its balance is too low, is skipped. A player who sits down
    before the turn reaches the seat is asked like the others.
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
    """Decline the question of this phase for the seat in turn."""
    return Step(state, (Passed(seat=action.seat, phase=state.phase),)).then(ask_next)


def offer_bank(state: State) -> Step:
    """Offer the bank from the minimum, starting with the next seat. The last banker
    is asked last.
    """
    if too_few_players(state):
        return close_table(state)
    return _put(state, Phase.OFFER, Announced(Announcement.WHO_TAKES_THE_BANK, state.rules.minimum))


def install_banker(state: State, number: int, amount: int) -> Step:
    """Make this seat the banker with this amount in the bank."""
    state = put_down(state, number, amount)
    state = replace(state, bank=Chips(number, amount), last_banker=number, asked=None, sale=None)
    return Step(state, (BankTaken(number, amount),)).then(begin_coup)


def end_bank(state: State) -> Step:
    """Return the bank to the banker and end the bank."""
    bank = state.held_bank
    state = replace(hand_back(state, bank.seat, bank.amount), bank=None)
    return Step(state, (BankEnded(bank.seat, bank.amount),))


def sell_bank(state: State) -> Step:
    """End the bank and offer it to the others at its amount."""
    full_amount = state.held_bank.amount
    return end_bank(state).then(dismiss_leaving).then(partial(_offer_at, full_amount=full_amount))


def close_table(state: State) -> Step:
    """Stop because too few players are left: return the bank and all bids, and wait for a second
    player.
    """
    step = Step(state) if state.bank is None else end_bank(state)
    return step.then(_return_bids).then(_wait_for_players)


def begin_coup(state: State) -> Step:
    """Ask each seat once for a call, starting at the banker's right. A spent shoe
    starts no coup.
    """
    if state.shoe is None or state.shoe.spent:
        return Step(replace(state, phase=Phase.SHOE), (Announced(Announcement.SHOE_IS_SPENT),))
    question = Announced(Announcement.WHO_CALLS_BANCO, state.held_bank.amount)
    return _put(replace(state, coup=Coup()), Phase.CALLS, question)


def open_stakes(state: State) -> Step:
    """Ask each seat in turn, from the banker's right, for stakes on the amount that is not covered
    yet.
    """
    return _put(state, Phase.STAKES, Announced(Announcement.FAITES_VOS_JEUX, open_amount(state)))


def open_amount(state: State) -> int:
    """Return how much of the bank the next seat may still stake."""
    coup, bank = state.running_coup, state.held_bank.amount
    if coup.call is not None and coup.call.covers_the_bank:
        joined = sum(stake.amount for stake in coup.stakes[1:])
        return coup.call.share_for_others(bank) - joined
    return bank - coup.at_risk


def after_coup(state: State) -> Step:
    """Continue between coups: offer a lost bank again, or let the banker keep or pass the bank."""
    if state.bank is None:
        return dismiss_leaving(state).then(offer_bank)
    if state.seat(state.bank.seat).presence is Presence.LEAVING:
        return sell_bank(state)
    return dismiss_leaving(state).then(_let_banker_choose)


def _put(state: State, phase: Phase, question: Announced) -> Step:
    """Start a phase. If no seat can answer its question, the question is not announced."""
    state = replace(state, phase=phase, asked=None)
    heard = _next_to_ask(state) is not None
    return Step(state, (question,) if heard else ()).then(ask_next)


def _next_to_ask(state: State) -> int | None:
    """Return the first seat that can answer to the right of the last one asked."""
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


def _wait_for_players(state: State) -> Step:
    return Step(replace(state, phase=Phase.ALONE, asked=None), (Announced(Announcement.WAITING_FOR_PLAYERS),))


def _leave_bank_free(state: State) -> Step:
    return Step(replace(state, phase=Phase.FREE), (Announced(Announcement.BANK_IS_FREE, state.rules.minimum),))


def _offer_at(state: State, full_amount: int) -> Step:
    if too_few_players(state):
        return close_table(state)
    question = Announced(Announcement.BANK_AT_ITS_FULL_AMOUNT, full_amount)
    return _put(replace(state, sale=Sale(full_amount)), Phase.SUITE, question)


def _auction(state: State) -> Step:
    return _put(state, Phase.AUCTION, Announced(Announcement.BANK_TO_THE_HIGHEST_BID, state.rules.minimum))


def _award(state: State) -> Step:
    """Give the bank to the highest bid. Of equal bids the first wins, which is the
    earlier seat's.
    """
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
    if too_few_players(state):
        return close_table(state)
    return Step(replace(state, phase=Phase.CHOICE))
