"""A drill whose faults hit no money is reported."""

import pytest

from tests.drill.commits import CUTS, Action, Fate
from tests.drill.hits import ENDS, missed
from tests.drill.postman import WAYS

ALL_WAYS, ALL_ENDS, ALL_CUTS = dict.fromkeys(WAYS, 1), dict.fromkeys(ENDS, 1), dict.fromkeys(CUTS, 1)


def test_nothing_is_missed_where_all_happened():
    assert [*missed(ALL_WAYS, ALL_ENDS, ALL_CUTS, 1)] == []


@pytest.mark.parametrize("way", WAYS)
def test_a_way_that_no_call_back_came_is_missed(way):
    assert [*missed(ALL_WAYS | {way: 0}, ALL_ENDS, ALL_CUTS, 1)] == [f"no call-back came {way}"]


@pytest.mark.parametrize("state", ENDS)
def test_an_end_that_no_payment_had_is_missed(state):
    ends = {each: 1 for each in ENDS if each != state}
    assert [*missed(ALL_WAYS, ends, ALL_CUTS, 1)] == [f"no payment is {state}"]


def test_a_call_that_was_done_without_a_repeated_answer_is_missed():
    cuts = ALL_CUTS | {(Action.CALL, Fate.DONE): 2}
    assert [*missed(ALL_WAYS, ALL_ENDS, cuts, 1)] == ["2 calls were done and their answers lost, 1 were told again"]
