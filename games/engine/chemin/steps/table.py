"""Actions on seats (join, leave, step away, come back), on the bank (take, bid, keep, pass on), and on a whole table.

Money in play stays there until the coup is over.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from games.engine.chemin.actions import (
    ComeBack,
    GiveSuite,
    Join,
    KeepBank,
    Leave,
    MakeBid,
    SetBalance,
    StepAway,
    TakeBank,
)
from games.engine.chemin.events import (
    BalanceSet,
    BankKept,
    BidMade,
    BidReturned,
    CoupVoided,
    PlayerAway,
    PlayerBack,
    PlayerJoined,
    PlayerWillLeave,
    Step,
    SuiteGiven,
)
from games.engine.chemin.state import Chips, Phase, Presence, Refusal, Refused, Seat, State
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
from games.engine.chemin.steps.seats import change_seat, dismiss, dismiss_leaving, hand_back, put_down, too_few_players


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
