"""The state machine of Chemin de Fer: a state and an action give a new state and events.

There is no clock and no randomness here. The end of a time limit is an action, and cards arrive as
a shoe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from games.engine.chemin.actions import (
    Action,
    AskCroupier,
    BreakUp,
    BringShoe,
    ComeBack,
    DealCards,
    DrawCard,
    EndBank,
    GiveSuite,
    Join,
    KeepBank,
    LayStake,
    Leave,
    MakeBid,
    MakeCall,
    Pass,
    SetBalance,
    Stand,
    StepAway,
    TableAction,
    TakeBank,
    TimeUp,
    VoidCoup,
)
from games.engine.chemin.events import Decision, Step
from games.engine.chemin.rules import Advice, Side
from games.engine.chemin.state import Phase, Presence, Refusal, Refused, State
from games.engine.chemin.steps import play, table
from games.engine.chemin.steps.phases import let_pass

WHEN: Final[Mapping[type[TableAction], frozenset[Phase]]] = {
    TakeBank: frozenset({Phase.FREE, Phase.OFFER, Phase.SUITE}),
    MakeBid: frozenset({Phase.AUCTION}),
    MakeCall: frozenset({Phase.CALLS}),
    LayStake: frozenset({Phase.STAKES}),
    Pass: frozenset({Phase.OFFER, Phase.SUITE, Phase.AUCTION, Phase.CALLS, Phase.STAKES}),
    DealCards: frozenset({Phase.CARDS}),
    DrawCard: frozenset({Phase.PUNTER, Phase.BANKER}),
    Stand: frozenset({Phase.PUNTER, Phase.BANKER}),
    AskCroupier: frozenset({Phase.PUNTER, Phase.BANKER}),
    KeepBank: frozenset({Phase.CHOICE}),
    GiveSuite: frozenset({Phase.CHOICE}),
}
"""The phases in which each decision is allowed."""

AT_A_FREE_CHOICE: Final[Mapping[Side, Advice]] = {Side.PUNTER: Advice.STAND, Side.BANKER: Advice.DRAW}
"""The croupier's choice for a player who does not decide."""


def apply(state: State, action: Action) -> Step:
    """Return the state after an action, and the events.

    Raises Refused with the reason; the state is then unchanged.
    """
    match action:
        case Join():
            return table.join(state, action)
        case Leave():
            return table.leave(state, action)
        case StepAway():
            return table.step_away(state, action)
        case ComeBack():
            return table.come_back(state, action)
        case SetBalance():
            return table.set_balance(state, action)
        case BringShoe():
            return play.bring_shoe(state, action)
        case VoidCoup():
            return table.void_coup(state)
        case EndBank():
            return table.end_bank_early(state)
        case BreakUp():
            return table.break_up(state)
        case TimeUp():
            return _decide_for_absent(state)
        case _:
            _check_turn(state, action)
            return _decide(state, action)


def default_action(state: State) -> TableAction | None:
    """Return the croupier's decision for the player whose turn it is, or None if it is nobody's
    turn.

    Offers, calls, stakes and bids are declined, and a bank is passed on. At the free choices the
    punter stands on five and the banker draws.
    """
    seat = state.turn
    if seat is None:
        return None
    match state.phase:
        case Phase.CARDS:
            return DealCards(seat)
        case Phase.PUNTER | Phase.BANKER:
            side = play.side_to_decide(state)
            advice = play.advice_to(state, side)
            if advice is Advice.AS_YOU_PLEASE:
                advice = AT_A_FREE_CHOICE[side]
            return DrawCard(seat) if advice is Advice.DRAW else Stand(seat)
        case Phase.CHOICE:
            return GiveSuite(seat)
        case _:
            return Pass(seat)


def _decide(state: State, action: TableAction) -> Step:
    match action:
        case TakeBank():
            return table.take_bank(state, action)
        case MakeBid():
            return table.make_bid(state, action)
        case KeepBank():
            return table.keep_bank(state, action)
        case GiveSuite():
            return table.give_suite(state, action)
        case MakeCall():
            return play.make_call(state, action)
        case LayStake():
            return play.lay_stake(state, action)
        case Pass():
            return let_pass(state, action)
        case DealCards():
            return play.deal_cards(state, action)
        case DrawCard():
            return play.draw_card(state, action)
        case Stand():
            return play.stand(state, action)
        case AskCroupier():
            return play.ask_croupier(state, action)


def _check_turn(state: State, action: TableAction) -> None:
    seat = state.seat(action.seat)
    if state.phase not in WHEN[type(action)]:
        raise Refused(Refusal.NOT_NOW)
    if state.phase is Phase.FREE:
        if seat.presence is not Presence.PLAYING:
            raise Refused(Refusal.AWAY_FROM_PLAY)
    elif state.turn != seat.number:
        raise Refused(Refusal.NOT_YOUR_TURN)


def _decide_for_absent(state: State) -> Step:
    action = default_action(state)
    if action is None:
        raise Refused(Refusal.NOBODY_IS_ASKED)
    after, events = apply(state, action)
    return Step(after, tuple(replace(e, by_house=True) if isinstance(e, Decision) else e for e in events))
