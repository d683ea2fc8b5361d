"""A client of the page: the possible slips after an answer, a refusal, and a lost answer."""

from typing import Any

import pytest

from tests.drill.bettors import Bettor
from tests.drill.records import NOTHING, Record, nothing_done

ROUND = "11111111-1111-4111-8111-111111111111"
OWN = f'<div id="live-own"><input name="round_id" value="{ROUND}">%s</div>'
TAKEN = OWN % ""
LATE = OWN % '<div class="call__notice call__notice--error" role="alert"><p>Bet received too late</p></div>'


class Page:
    """Gives the prepared answers; None closes the connection without an answer."""

    def __init__(self, *answers: str | None) -> None:
        self._answers = [TAKEN, *answers]

    def get(self, _path: str) -> tuple[int, str]:
        return 200, self._answers.pop(0) or ""

    def post(self, _path: str, _form: dict[str, object]) -> tuple[int, str]:
        answer = self._answers.pop(0)
        if answer is None:
            raise ConnectionResetError
        return 200, answer


def a_bettor(*answers: str | None) -> Bettor:
    """One who has clicked as often as there are answers, after a look at the page."""
    page: Any = Page(*answers)
    bettor = Bettor(Record("Ada", 0), "any", page, "/table/", [100])
    for _ in range(1 + len(answers)):
        bettor._click()
    return bettor


def test_a_bettor_whose_every_click_is_refused_has_done_nothing():
    bettor = a_bettor(LATE, LATE, LATE)
    assert bettor.done == {"refused: Bet received too late": 3}
    assert bettor.record.bets == {ROUND: (NOTHING,)}
    assert [*nothing_done(bettor.record, bettor.done[bettor.CONFIRMED], [], pays=False)] == [
        "Ada: nothing was confirmed",
        "Ada: the house has no round in which a bet of theirs was taken",
    ]


def test_a_confirmed_click_is_certainly_on_the_table():
    (stored,) = a_bettor(TAKEN).record.bets[ROUND]
    assert sum(stored.values()) == 100


@pytest.mark.parametrize("answers", [(None,), (None, LATE)])
def test_one_that_was_not_answered_may_lie_there(answers):
    bettor = a_bettor(*answers)
    assert len(bettor.record.bets[ROUND]) == 2
    assert NOTHING in bettor.record.bets[ROUND]
