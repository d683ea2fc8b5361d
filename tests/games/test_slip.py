"""The bet slip: each button changes it in one way, and UNDO reverts each change."""

import pytest

from games.betting.rules import UNDO_DEPTH, Slip
from games.errors import NothingToRepeat


def test_a_click_adds_one_chip_to_the_bet():
    slip = Slip().add("player", 1000).add("player", 5000).add("tie", 1000)
    assert slip.stakes == {"player": 6000, "tie": 1000}
    assert slip.total == 7000


def test_double_doubles_every_bet_on_the_table():
    assert Slip({"player": 1000, "tie": 500}).double().stakes == {"player": 2000, "tie": 1000}


def test_clear_takes_every_bet_off():
    assert Slip({"player": 1000, "tie": 500}).clear().stakes == {}


def test_rebet_replaces_the_bets_on_the_table_with_those_of_the_last_round():
    assert Slip({"player": 1000}).repeat({"banker": 2000}).stakes == {"banker": 2000}


def test_rebet_before_any_round_is_refused():
    with pytest.raises(NothingToRepeat):
        Slip({"player": 1000}).repeat({})


@pytest.mark.parametrize(
    "change",
    [
        lambda slip: slip.add("tie", 1000),
        lambda slip: slip.double(),
        lambda slip: slip.clear(),
        lambda slip: slip.repeat({"banker": 2000}),
    ],
    ids=["bet", "double", "clear", "rebet"],
)
def test_undo_takes_back_the_latest_change_whatever_it_was(change):
    before = Slip({"player": 1000})
    assert change(before).undo().stakes == before.stakes


def test_undo_goes_back_step_by_step_to_the_empty_table_and_no_further():
    slip = Slip().add("player", 1000).double().clear()
    assert slip.undo().stakes == {"player": 2000}
    assert slip.undo().undo().stakes == {"player": 1000}
    assert slip.undo().undo().undo().undo().stakes == {}


def test_clearing_an_empty_table_leaves_nothing_to_undo():
    assert Slip().clear().earlier == ()


def test_undo_remembers_a_bounded_number_of_steps():
    slip = Slip()
    for _ in range(UNDO_DEPTH + 5):
        slip = slip.add("player", 1)
    assert len(slip.earlier) == UNDO_DEPTH
