"""Actions that a player may take now, with the allowed amounts.

Pages offer them as buttons.

`apply` accepts every option at its lowest and at its highest amount.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from games.engine.chemin.actions import (
    AskCroupier,
    DealCards,
    DrawCard,
    GiveSuite,
    KeepBank,
    LayStake,
    MakeBid,
    MakeCall,
    Pass,
    Stand,
    TableAction,
    TakeBank,
)
from games.engine.chemin.rules import Call
from games.engine.chemin.state import Phase, Presence, Seat, State
from games.engine.chemin.steps.phases import open_amount
from games.engine.chemin.steps.play import forbidden, side_to_decide

NamesAmount = TakeBank | MakeBid | MakeCall | LayStake


@dataclass(frozen=True, slots=True)
class Option:
    """An action at its lowest amount. Without limits there is no amount to choose."""

    action: TableAction
    lowest: int | None = None
    highest: int | None = None

    def at(self, amount: int) -> TableAction:
        """Return the action with this amount, if it has an amount to choose."""
        if self.highest is not None and isinstance(self.action, NamesAmount):
            return replace(self.action, amount=amount)
        return self.action


def options(state: State, number: int) -> tuple[Option, ...]:
    """Return all actions of the player on this seat if it is their turn, else nothing."""
    seat = state.find(number)
    if seat is None:
        return ()
    if state.phase is Phase.FREE and seat.presence is Presence.PLAYING:
        return tuple(_bank_options(state, seat))
    if state.turn != number:
        return ()
    return tuple(_options_in_turn(state, seat))


def _options_in_turn(state: State, seat: Seat) -> Iterator[Option]:
    number = seat.number
    match state.phase:
        case Phase.OFFER:
            yield from _bank_options(state, seat)
            yield Option(Pass(number))
        case Phase.SUITE:
            full_amount = state.offered_sale.full_amount
            if seat.balance >= full_amount:
                yield Option(TakeBank(number, full_amount))
            yield Option(Pass(number))
        case Phase.AUCTION:
            most = min(seat.balance, state.offered_sale.full_amount - 1)
            yield from _between(MakeBid(number, state.rules.minimum), most)
            yield Option(Pass(number))
        case Phase.CALLS:
            yield from _call_options(state, seat)
            yield Option(Pass(number))
        case Phase.STAKES:
            yield from _between(LayStake(number, 1), min(seat.balance, open_amount(state)))
            yield Option(Pass(number))
        case Phase.CARDS:
            yield Option(DealCards(number))
        case Phase.PUNTER | Phase.BANKER:
            yield from _card_options(state, number)
        case Phase.CHOICE:
            yield Option(KeepBank(number))
            yield Option(GiveSuite(number))


def _bank_options(state: State, seat: Seat) -> Iterator[Option]:
    yield from _between(TakeBank(seat.number, state.rules.minimum), min(seat.balance, state.rules.maximum))


def _call_options(state: State, seat: Seat) -> Iterator[Option]:
    bank = state.held_bank.amount
    for call in Call:
        smallest = call.smallest_stake(bank)
        if not call.covers_the_bank:
            yield from _between(MakeCall(seat.number, call, smallest), min(seat.balance, bank))
        elif seat.balance >= smallest:
            yield Option(MakeCall(seat.number, call))


def _card_options(state: State, number: int) -> Iterator[Option]:
    side = side_to_decide(state)
    if forbidden(state, side, draws=True) is None:
        yield Option(DrawCard(number))
    if forbidden(state, side, draws=False) is None:
        yield Option(Stand(number))
    if side not in state.dealt_hands.advised:
        yield Option(AskCroupier(number))


def _between(cheapest: NamesAmount, highest: int) -> Iterator[Option]:
    if cheapest.amount is not None and cheapest.amount <= highest:
        yield Option(cheapest, cheapest.amount, highest)
