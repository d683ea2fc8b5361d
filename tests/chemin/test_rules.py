"""The rules of a version of a Chemin de Fer table: allowed values and parsing."""

from dataclasses import replace

import pytest

from games.tables.chemin_rules import CheminClock, CheminRules, CheminRulesError
from games.tables.clock import ClockError

RULES = CheminRules("SEK", seat_count=9, minimum=10_000, maximum=1_000_000)
STORED = {"seat_count": 9, "minimum": 10_000, "maximum": 1_000_000, "house_players": 0}
CLOCK = CheminClock(
    ask=20_000,
    decide=20_000,
    deal=12_000,
    choice=15_000,
    pause=6_000,
    house_player=2_500,
    missed=2,
    removal=300_000,
)


def test_rules_are_read_as_they_are_stored() -> None:
    assert CheminRules.of({"SEK": STORED}) == RULES
    assert RULES.stored() == {"SEK": STORED}


def test_the_engine_is_given_seats_and_banks() -> None:
    rules = RULES.table_rules
    assert (rules.seat_count, rules.minimum, rules.maximum) == (9, 10_000, 1_000_000)


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"SEK": STORED, "EUR": STORED},
        {"SEK": []},
        {"SEK": {"seat_count": 9, "minimum": 1, "maximum": 2}},
        {"SEK": STORED | {"step": 1}},
        {"SEK": STORED | {"seat_count": 2}},
        {"SEK": STORED | {"seat_count": 10}},
        {"SEK": STORED | {"seat_count": True}},
        {"SEK": STORED | {"minimum": 0}},
        {"SEK": STORED | {"minimum": 2_000_000}},
        {"SEK": STORED | {"maximum": 1e6}},
        {"SEK": STORED | {"house_players": -1}},
        {"SEK": STORED | {"house_players": 9}},
    ],
)
def test_rules_under_which_nobody_can_play_are_refused_in_a_sentence(stored: dict[str, object]) -> None:
    with pytest.raises(CheminRulesError, match=r"\.$"):
        CheminRules.of(stored)


def test_a_practice_table_leaves_a_seat_to_a_player() -> None:
    assert replace(RULES, seat_count=5, house_players=4).is_practice
    assert not RULES.is_practice
    with pytest.raises(CheminRulesError, match="of 5 seats, 0 to 4 can be house players"):
        replace(RULES, seat_count=5, house_players=5)


def test_a_clock_is_read_as_it_is_stored() -> None:
    assert CheminClock.of(CLOCK.stored()) == CLOCK


@pytest.mark.parametrize(
    "change",
    [
        {"ask": 0},
        {"ask": 20_000.0},
        {"missed": 0},
        {"missed": 21},
        {"removal": 4_000_000},
        {"pause": 600_001},
        {"house_player": 12_000},
    ],
)
def test_a_pace_no_table_can_keep_is_refused_in_a_sentence(change: dict[str, int]) -> None:
    with pytest.raises(ClockError, match=r"\.$"):
        CheminClock.of(CLOCK.stored() | change)


def test_a_clock_of_another_kind_of_table_is_refused() -> None:
    with pytest.raises(ClockError, match="Chemin de Fer table"):
        CheminClock.of({"betting": 20_000, "call": 2_000, "card": 1_000, "pause": 6_000})
