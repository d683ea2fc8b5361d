"""Serialisation of a table between two actions: everything except cards and balances, as JSON.

Card positions follow from the order of the shoe and the number of dealt cards, so the JSON contains
no card. Balances come from the ledger. `thaw` combines the three again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from games.engine.cards import Card
from games.engine.chemin.rules import Call, Outcome, Side, TableRules
from games.engine.chemin.state import (
    Chips,
    Coup,
    Hand,
    Hands,
    Phase,
    Presence,
    Sale,
    Seat,
    Shoe,
    State,
    WrongPhase,
    there,
)

Frozen = dict[str, Any]


class ThawError(ValueError):
    """These cards or balances do not belong to the frozen table."""


UNREADABLE: Final = (LookupError, TypeError, ValueError, WrongPhase)
"""Exceptions that a damaged frozen table raises when it is thawed or read."""


def freeze(state: State) -> Frozen:
    """Return the table without its cards, balances and rules, as JSON-compatible data.

    Raises WrongPhase if there are hands but no shoe.
    """
    sale, shoe = state.sale, state.shoe
    return {
        "last_banker": state.last_banker,
        "seats": [[seat.number, seat.presence.value] for seat in state.seats],
        "phase": state.phase.value,
        "asked": state.asked,
        "bank": None if state.bank is None else _numbers(state.bank),
        "sale": None
        if sale is None
        else {"full_amount": sale.full_amount, "bids": [_numbers(bid) for bid in sale.bids]},
        "coup": None if state.coup is None else _freeze_coup(state.coup, shoe),
        "shoe": None if shoe is None else {"gone": shoe.drawn, "cards": len(shoe.cards)},
    }


def thaw(frozen: Frozen, *, rules: TableRules, cards: tuple[Card, ...], balances: Mapping[int, int]) -> State:
    """Restore a frozen table: `thaw(freeze(state), …) == state`.

    `cards` are all cards of the shoe in dealing order, dealt ones included; empty if there is no
    shoe on the table. `balances` are the balances by seat. Raises ThawError if cards or balances
    are missing.
    """
    bank, sale, coup = frozen["bank"], frozen["sale"], frozen["coup"]
    shoe = _thaw_shoe(frozen["shoe"], cards)
    return State(
        rules=rules,
        last_banker=frozen["last_banker"],
        seats=tuple(_thaw_seat(number, presence, balances) for number, presence in frozen["seats"]),
        phase=Phase(frozen["phase"]),
        asked=frozen["asked"],
        bank=None if bank is None else Chips(*bank),
        sale=None if sale is None else Sale(sale["full_amount"], _chips(sale["bids"])),
        coup=None if coup is None else _thaw_coup(coup, cards),
        shoe=shoe,
    )


def _freeze_coup(coup: Coup, shoe: Shoe | None) -> Frozen:
    return {
        "call": None if coup.call is None else coup.call.value,
        "stakes": [_numbers(stake) for stake in coup.stakes],
        "hands": None if coup.hands is None else _freeze_hands(coup.hands, there(shoe)),
        "outcome": None if coup.outcome is None else coup.outcome.value,
    }


def _freeze_hands(hands: Hands, shoe: Shoe) -> Frozen:
    """Return the position of the hands in the shoe: their cards are the last that were dealt."""
    punter_drew, banker_drew = hands.punter.third is not None, hands.banker.third is not None
    return {
        "first": shoe.drawn - 4 - punter_drew - banker_drew,
        "punter_drew": punter_drew,
        "banker_drew": banker_drew,
        "punter_shown": hands.punter.shown,
        "banker_shown": hands.banker.shown,
        "advised": sorted(side.value for side in hands.advised),
    }


def _thaw_shoe(shoe: Frozen | None, cards: tuple[Card, ...]) -> Shoe | None:
    needed = 0 if shoe is None else shoe["cards"]
    if len(cards) != needed:
        raise ThawError(f"the shoe of this table has {needed} cards, not {len(cards)}")
    return None if shoe is None else Shoe(cards, shoe["gone"])


def _thaw_seat(number: int, presence: str, balances: Mapping[int, int]) -> Seat:
    if number not in balances:
        raise ThawError(f"nobody says what seat {number} has to play with")
    return Seat(number, balances[number], Presence(presence))


def _thaw_coup(coup: Frozen, cards: tuple[Card, ...]) -> Coup:
    hands, outcome = coup["hands"], coup["outcome"]
    return Coup(
        call=None if coup["call"] is None else Call(coup["call"]),
        stakes=_chips(coup["stakes"]),
        hands=None if hands is None else _thaw_hands(hands, cards),
        outcome=None if outcome is None else Outcome(outcome),
    )


def _thaw_hands(hands: Frozen, cards: tuple[Card, ...]) -> Hands:
    begin, punter_drew, banker_drew = hands["first"], hands["punter_drew"], hands["banker_drew"]
    end = begin + 4 + punter_drew + banker_drew
    if not 0 <= begin < end <= len(cards):
        raise ThawError(f"hands of the cards {begin} to {end}, of {len(cards)}")
    first, second, third, fourth, *drawn = cards[begin:end]
    thirds = iter(drawn)
    punter_third = next(thirds) if punter_drew else None
    banker_third = next(thirds) if banker_drew else None
    return Hands(
        punter=Hand((first, third), punter_third, hands["punter_shown"]),
        banker=Hand((second, fourth), banker_third, hands["banker_shown"]),
        advised=frozenset(Side(side) for side in hands["advised"]),
    )


def _numbers(chips: Chips) -> list[int]:
    return [chips.seat, chips.amount]


def _chips(numbers: Iterable[tuple[int, int]]) -> tuple[Chips, ...]:
    return tuple(Chips(seat, amount) for seat, amount in numbers)
