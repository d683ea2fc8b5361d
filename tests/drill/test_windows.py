"""The records of a window at a shared table about its chips: the answers decide, not the page."""

import pytest

from tests.drill.records import NOTHING, Record
from tests.drill.windows import SharedWindow

TAKEN, REFUSED = '<div id="live-own"></div>', '<div id="live-own"><p class="call__notice--error"></p></div>'
PLAYER, TIE, BOTH = {"player": 5}, {"tie": 5}, {"tie": 5, "player": 5}


@pytest.fixture
def window() -> SharedWindow:
    return SharedWindow(Record("Ada", 0), "any", "", "", {})


def on_table(window: SharedWindow) -> list[dict[str, int]]:
    return [dict(each) for each in window.record.bets["r"]]


def test_a_taken_chip_is_on_the_table_and_a_refused_one_is_not(window):
    window._send("r", "tie", 5)
    window._hear(TAKEN)
    window._send("r", "player", 5)
    window._hear(REFUSED)
    assert on_table(window) == [TIE]
    assert window.done == {"chip taken": 1, "chip too late": 1}


@pytest.mark.parametrize("answer", [None, "", "Bad gateway"])
def test_one_that_was_not_answered_may_lie_there(window, answer):
    window._send("r", "tie", 5)
    if answer is not None:
        window._hear(answer)
    assert on_table(window) == [dict(NOTHING), TIE]


def test_an_earlier_chip_that_comes_late_does_not_pass_for_the_answer_to_the_next_one(window):
    """The first is shown while the second is under way: both are on the table in the end."""
    window._send("r", "tie", 5)
    window._send("r", "player", 5)
    assert BOTH in on_table(window)
    window._hear(TAKEN)
    assert on_table(window) == [PLAYER, BOTH]
