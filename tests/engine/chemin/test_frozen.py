"""A table can be frozen without its cards and thawed. `test_any_evening` shows it for any table."""

import json

import pytest

from games.engine.chemin import Phase
from games.engine.chemin.actions import AskCroupier, DrawCard
from games.engine.chemin.frozen import ThawError, freeze, thaw
from tests.engine.chemin.evening import Evening, alone, bank_taken, play_out

BALANCES = {1: 9_000, 2: 9_000, 3: 10_000, 4: 10_000}


def thawed(evening: Evening, **other: object) -> object:
    state = evening.state
    parts = {
        "rules": state.rules,
        "cards": state.shoe.cards if state.shoe else (),
        "balances": {seat.number: seat.balance for seat in state.seats},
    }
    return thaw(freeze(state), **(parts | other))  # type: ignore[arg-type]


def test_hands_are_kept_as_where_they_lie_in_the_shoe() -> None:
    evening = alone("TC TD 4C 5D 9H")
    evening.do(AskCroupier(2), DrawCard(2))
    assert freeze(evening.state)["coup"]["hands"] == {
        "first": 0,
        "punter_drew": True,
        "banker_drew": False,
        "punter_shown": False,
        "banker_shown": True,
        "advised": ["punter"],
    }
    assert freeze(evening.state)["shoe"] == {"gone": 5, "cards": 312}
    assert thawed(evening) == evening.state


def test_a_table_frozen_in_mid_coup_names_no_card() -> None:
    frozen = json.dumps(freeze(alone("TC TD 4C 5D 9H").state))
    assert not any(code in frozen for code in ("TC", "TD", "4C", "5D", "9H"))


def test_a_coup_that_is_over_is_kept_with_its_hands_and_its_outcome() -> None:
    evening = alone("TC TD 7C 5D 3H")
    play_out(evening, punter_draws=False, banker_draws=True)
    assert evening.state.phase is Phase.CHOICE
    assert thawed(evening) == evening.state


def test_a_thawed_table_plays_on_as_the_other_would() -> None:
    evening, other = alone("TC TD 4C 5D 4H 3S"), Evening({})
    other.state = thawed(evening)  # type: ignore[assignment]
    for table in (evening, other):
        play_out(table, punter_draws=True, banker_draws=True)
    assert other.state == evening.state


def test_a_table_without_a_shoe_needs_no_cards() -> None:
    evening = Evening({1: 500, 2: 500})
    assert freeze(evening.state)["shoe"] is None
    assert thawed(evening, cards=()) == evening.state


def test_rules_and_balances_come_from_outside() -> None:
    evening = bank_taken()
    other = thawed(evening, balances=BALANCES | {2: 1})
    assert other.seat(2).balance == 1  # type: ignore[attr-defined]


def test_a_table_is_not_thawed_with_another_number_of_cards() -> None:
    evening = bank_taken()
    with pytest.raises(ThawError, match="312"):
        thawed(evening, cards=())
    with pytest.raises(ThawError, match="0 cards"):
        thawed(Evening({1: 500}), cards=evening.state.shoe.cards)  # type: ignore[union-attr]


def test_a_table_is_not_thawed_without_everyones_balance() -> None:
    with pytest.raises(ThawError, match="seat 4"):
        thawed(bank_taken(), balances={1: 9_000, 2: 10_000, 3: 10_000})
