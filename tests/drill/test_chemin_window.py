"""The records of a player's window about its clicks, for each answer of the page."""

from dataclasses import replace
from typing import Any

import pytest

from tests.drill.chemin_window import CheminWindow, Offer, _minor_units
from tests.drill.records import NOTHING, Record

TAKEN, REFUSED = '<div id="live-own"></div>', '<div id="live-own"><p class="call__notice--error"></p></div>'
STAKE, BANK = Offer("c", "lay_stake", "act-lay_stake", 500), Offer("", "take_bank", "act-take_bank", 900)


class Window(CheminWindow):
    """A window whose page gives the prepared answers; None is no answer."""

    def __init__(self, answer: str | None) -> None:
        super().__init__(Record("Ada", 0), "any", "", "", {})
        self._answer = answer

    def _sent(self, page: Any, offer: Offer) -> str:
        return self._answer or ""

    def _open(self, page: Any) -> None:
        """Open no page."""


def after(answer: str | None, offer: Offer) -> Window:
    window, nowhere = Window(answer), None
    window._do(nowhere, offer)  # type: ignore[arg-type]
    return window


def test_a_stake_that_was_taken_is_on_the_table():
    window = after(TAKEN, STAKE)
    assert (window.record.bets, window.record.against) == ({"c": ({"punter": 500},)}, {"c"})
    assert window.done[window.CONFIRMED] == 1


def test_one_that_was_not_answered_is_not_sure():
    window = after(None, STAKE)
    assert NOTHING in window.record.bets["c"]
    assert {"punter": 500} in window.record.bets["c"]
    assert window.record.against == set()
    assert window.done[window.CONFIRMED] == 0


def test_a_refused_one_is_not_on_the_table_and_an_earlier_one_still_may_be():
    assert after(REFUSED, STAKE).record.bets == {"c": (NOTHING,)}
    window, nowhere = after(None, STAKE), None
    before = window.record.bets["c"]
    window._answer = REFUSED
    window._do(nowhere, replace(STAKE, amount=700))  # type: ignore[arg-type]
    assert window.record.bets["c"] == before
    assert window.record.against == set()


@pytest.mark.parametrize(("answer", "banks"), [(TAKEN, [900]), (None, [900]), (REFUSED, [])])
def test_a_bank_may_have_been_taken_unless_it_was_refused(answer, banks):
    assert after(answer, BANK).record.banks == banks


def test_a_call_for_the_whole_bank_says_no_amount():
    assert Offer("c", "make_call:banco", "", None).is_for_all
    assert not Offer("c", "pass", "", None).is_for_all


@pytest.mark.parametrize(
    ("text", "amount"), [("1,250.50", 125_050), ("1\N{NO-BREAK SPACE}000", 100_000), ("10", 1000), ("", None)]
)
def test_amounts_are_read_as_the_page_writes_them(text, amount):
    assert _minor_units(text) == amount
