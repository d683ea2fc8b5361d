"""Views of a table for one player or for a spectator.

A view never contains the shoe or a face-down card of another hand. Staff see the spectator's view.
A balance is shown only to its owner; amounts in play are visible to all.
"""

from __future__ import annotations

from dataclasses import dataclass

from games.engine.cards import Card
from games.engine.chemin.options import Option, options
from games.engine.chemin.rules import Advice, Call, Outcome, Side, TableRules
from games.engine.chemin.state import Chips, Coup, Hand, Phase, Presence, Sale, State
from games.engine.chemin.steps.phases import open_amount
from games.engine.chemin.steps.play import advice_to, side_to_decide
from games.engine.coup import total


@dataclass(frozen=True, slots=True)
class PlayerView:
    """A player at the table: seat and presence."""

    seat: int
    presence: Presence


@dataclass(frozen=True, slots=True)
class HandView:
    """A hand as the viewer sees it. None is a face-down card, and then there is no total."""

    cards: tuple[Card | None, ...]
    total: int | None
    natural: bool


@dataclass(frozen=True, slots=True)
class CoupView:
    """The current coup, or the last one with its outcome. `punter_seat` plays the punters' hand."""

    call: Call | None
    stakes: tuple[Chips, ...]
    at_risk: int
    open: int
    """The amount that may still be staked; zero after the stakes are closed."""
    punter_seat: int | None
    punter: HandView | None
    banker: HandView | None
    advised: frozenset[Side]
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class SeatView:
    """The table as seen from one seat, or by a spectator if `seat` is None."""

    rules: TableRules
    seat: int | None
    balance: int | None
    phase: Phase
    turn: int | None
    seated_players: tuple[PlayerView, ...]
    bank: Chips | None
    sale: Sale | None
    coup: CoupView | None
    options: tuple[Option, ...]
    advice: Advice | None
    """The croupier's advice, if this viewer asked for it and has not decided yet."""


def view(state: State, seat: int | None) -> SeatView:
    """Return the view of the player on this seat. None or a free seat gives the
    spectator's view.
    """
    viewer = None if seat is None else state.find(seat)
    number = None if viewer is None else viewer.number
    seated_players = sorted(state.seats, key=lambda seated_player: seated_player.number)
    return SeatView(
        rules=state.rules,
        seat=number,
        balance=None if viewer is None else viewer.balance,
        phase=state.phase,
        turn=state.turn,
        seated_players=tuple(
            PlayerView(seated_player.number, seated_player.presence) for seated_player in seated_players
        ),
        bank=state.bank,
        sale=state.sale,
        coup=None if state.coup is None else _coup_view(state, state.coup, number),
        options=() if number is None else options(state, number),
        advice=None if number is None else _advice_for(state, number),
    )


def _coup_view(state: State, coup: Coup, viewer: int | None) -> CoupView:
    hands = coup.hands
    closed = state.phase not in (Phase.CALLS, Phase.STAKES)
    return CoupView(
        call=coup.call,
        stakes=coup.stakes,
        at_risk=coup.at_risk,
        open=0 if closed else open_amount(state),
        punter_seat=coup.punter,
        punter=None if hands is None else _hand_view(hands.punter, own=viewer is not None and viewer == coup.punter),
        banker=None if hands is None else _hand_view(hands.banker, own=False),
        advised=frozenset() if hands is None else hands.advised,
        outcome=coup.outcome,
    )


def _hand_view(hand: Hand, *, own: bool) -> HandView:
    """Return a hand as the viewer sees it: the punter sees their own two cards, others only shown
    cards.
    """
    third = () if hand.third is None else (hand.third,)
    if not (hand.shown or own):
        return HandView((None, None, *third), None, natural=False)
    cards = (*hand.pair, *third)
    return HandView(cards, total(cards), hand.natural)


def _advice_for(state: State, viewer: int) -> Advice | None:
    if state.phase not in (Phase.PUNTER, Phase.BANKER) or state.turn != viewer:
        return None
    side = side_to_decide(state)
    return advice_to(state, side) if side in state.dealt_hands.advised else None
