"""A table for scripted coups: chosen cards on top of an ordinary six-deck shoe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

import pytest

from games.engine.cards import FULL_DECK, Card
from games.engine.chemin import Phase, Refusal, Refused, State, TableRules, apply, new_table
from games.engine.chemin.actions import (
    Action,
    BringShoe,
    DealCards,
    DrawCard,
    Join,
    LayStake,
    MakeCall,
    Pass,
    Stand,
    TakeBank,
)
from games.engine.chemin.events import Announced, Announcement, Event
from games.engine.chemin.machine import WHEN
from games.engine.chemin.rules import DECKS, Call

E = TypeVar("E")

ANY_COUP = "TC 2C 5C 3C"
"""Punter 5, banker 5."""


def shoe_beginning(codes: str) -> tuple[Card, ...]:
    """Return six decks with these cards on top, dealt punter, banker, punter, banker, thirds."""
    top = tuple(Card.parse(code) for code in codes.split())
    rest = Counter(FULL_DECK * DECKS) - Counter(top)
    return top + tuple(rest.elements())


class Evening:
    """A table and all its events."""

    def __init__(
        self,
        balances: Mapping[int, int],
        *,
        seat_count: int = 5,
        minimum: int = 100,
        maximum: int = 100_000,
    ) -> None:
        self.state: State = new_table(TableRules(seat_count, minimum, maximum))
        self.events: list[Event] = []
        self.do(*(Join(number, balance) for number, balance in balances.items()))

    def do(self, *actions: Action) -> list[Event]:
        """Apply the actions in order and return the events."""
        happened: list[Event] = []
        for action in actions:
            self.state, events = apply(self.state, action)
            happened.extend(events)
        self.events.extend(happened)
        return happened

    def refusal(self, action: Action) -> Refusal:
        """Return the reason why this action is refused."""
        with pytest.raises(Refused) as refused:
            apply(self.state, action)
        return refused.value.reason

    def balance(self, number: int) -> int:
        return self.state.seat(number).balance

    def all_pass(self) -> list[int]:
        """Let every seat pass in this phase. Return the seats in the order of their turns."""
        phase, asked = self.state.phase, []
        while self.state.phase is phase and self.state.turn is not None and phase in WHEN[Pass]:
            asked.append(self.state.turn)
            self.do(Pass(self.state.turn))
        return asked

    def said(self) -> list[Announcement]:
        return [event.what for event in self.events if isinstance(event, Announced)]

    def events_of(self, kind: type[E]) -> list[E]:
        """Return all events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


def bank_taken(
    balances: Mapping[int, int] | None = None,
    *,
    bank: int = 1000,
    cards: str = ANY_COUP,
    seat_count: int = 5,
    minimum: int = 100,
    maximum: int = 100_000,
) -> Evening:
    """Return a table at which seat 1 holds a bank of 1,000 and seat 2 may call; seats 1 to 4 have
    10,000 each.
    """
    seats = balances or {1: 10_000, 2: 10_000, 3: 10_000, 4: 10_000}
    evening = Evening(seats, seat_count=seat_count, minimum=minimum, maximum=maximum)
    evening.do(TakeBank(1, bank), BringShoe(shoe_beginning(cards)))
    return evening


def alone(cards: str, **table: int) -> Evening:
    """Return a table at which seat 2 has called *banco solo* against seat 1, after the deal."""
    evening = bank_taken(cards=cards, **table)  # type: ignore[arg-type]
    evening.do(MakeCall(2, Call.BANCO_SOLO), DealCards(1))
    return evening


def for_others(cards: str) -> Evening:
    """Return a table at which seats 2 and 3 have staked 600 and 400 against seat 1, after the
    deal.
    """
    evening = bank_taken(cards=cards)
    evening.all_pass()
    evening.do(LayStake(2, 600), LayStake(3, 400), DealCards(1))
    return evening


def play_out(evening: Evening, *, punter_draws: bool, banker_draws: bool) -> None:
    """Make the decisions of both sides, as far as they have any."""
    decisions = {Phase.PUNTER: punter_draws, Phase.BANKER: banker_draws}
    while evening.state.phase in decisions:
        seat = evening.state.turn
        assert seat is not None
        draws = decisions[evening.state.phase]
        evening.do(DrawCard(seat) if draws else Stand(seat))
