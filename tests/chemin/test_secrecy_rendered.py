"""Rendered output of a Chemin de Fer table does not depend on cards that its reader may not see.

The same course of a coup with other face-down cards gives the same bytes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pytest
from django.conf import settings

from games.chemin.pages import rendering
from games.chemin.state.queries import PublicTable
from games.engine.chemin import State
from games.engine.chemin.actions import Action, AskCroupier, DrawCard, Stand
from tests.chemin.shown import own_row, seen
from tests.chemin.spelling import cards_in
from tests.engine.chemin.evening import Evening, alone, for_others
from tests.harness.sweeps import sweep_languages

LANGUAGES = [code for code, _name in settings.LANGUAGES]
BANKER, PUNTER, OTHER = 1, 2, 3  # seats at the tables of `tests.engine.chemin.evening`
POSITIONS: tuple[int | None, ...] = (1, 2, 3, 4, None)

Table = Callable[[str], Evening]

# Cards with which each course is possible: punter and banker in turn, then third cards. Of the
# first four, only the punter sees cards until the punter has declared. Then the banker's two are
# face up, and the punter's are not.
FACE_DOWN: list[tuple[Table, tuple[Action, ...], tuple[str, ...]]] = [
    (alone, (), ("TC 2C 5C 3C", "AS KD 2H 9S 8S", "6D 9H TH KS", "KH KC QD JS", "3C 4D 2S 4S")),
    (for_others, (), ("TC 2C 5C 3C", "AS KD 2H 9S 8S", "6D 9H TH KS", "KH KC QD JS", "3C 4D 2S 4S")),
    (for_others, (AskCroupier(PUNTER),), ("TC 2C 5C 3C", "AS KD 2H 9S", "6D 9H TH KS", "KH KC QD JS")),
    (for_others, (Stand(PUNTER),), ("TC 2C 5C 3C", "KD 2C 6H 3C", "3S 2C 4H 3C")),
    (for_others, (DrawCard(PUNTER),), ("TC 2C 5C 3C 9H", "KD 2C AH 3C 9H", "3S 2C AD 3C 9H", "KD 2C QS 3C 9H")),
    (alone, (DrawCard(PUNTER),), ("TC 2C 7C 3C 9H", "KD 2C AH 3C 9H", "3S 2C 4D 3C 9H", "2D 2C 4S 3C 9H")),
    (alone, (Stand(PUNTER), AskCroupier(BANKER)), ("TC 2C 7C 3C", "KD 2C AH 3C", "3S 2C 4D 3C", "2D 2C 4S 3C")),
]
COURSES = [pytest.param(*course, id=f"{number}") for number, course in enumerate(FACE_DOWN)]


def tables(begin: Table, actions: Sequence[Action], shoes: Sequence[str]) -> Iterator[PublicTable]:
    """Yield the table after the same course with each of the shoes; public events are the same."""
    heard = []
    for cards in shoes:
        evening = begin(cards)
        evening.do(*actions)
        heard.append(evening.events)
        yield seen(evening.state, evening.events)
    assert all(one == other for one, other in pairwise(heard))


def everything_for(table: PublicTable, seat_number: int | None, language: str) -> str:
    """Return everything that is sent to the player at a seat."""
    own = rendering.render_own(table, own_row(seat_number), language)
    return "\n".join((rendering.render_public(table, language), rendering.render_board(table, language), own))


@pytest.mark.parametrize("language", sweep_languages(LANGUAGES))
@pytest.mark.parametrize(("begin", "actions", "shoes"), COURSES)
def test_nobody_but_the_punter_is_sent_another_byte_for_other_cards_face_down(begin, actions, shoes, language):
    for seat_number in POSITIONS:
        sent = {everything_for(table, seat_number, language) for table in tables(begin, actions, shoes)}
        assert (len(sent) == 1) is (seat_number != PUNTER), seat_number


@pytest.mark.parametrize(("begin", "actions", "shoes"), COURSES)
def test_the_punters_two_are_in_the_punters_own_part_and_nowhere_else(begin, actions, shoes):
    for cards, table in zip(shoes, tables(begin, actions, shoes), strict=True):
        first, second, third, fourth, *_ = cards.split()
        open_now = {second, fourth, *cards.split()[4:5]} if {Stand(PUNTER), DrawCard(PUNTER)} & {*actions} else set()
        open_now -= set() if DrawCard(PUNTER) in actions else set(cards.split()[4:5])
        for seat_number in POSITIONS:
            own = {card.code for card in cards_in(rendering.render_own(table, own_row(seat_number), "en"))}
            assert own - open_now == ({first, third} if seat_number == PUNTER else set())
        everybodys = cards_in(rendering.render_public(table, "en")) | cards_in(rendering.render_board(table, "en"))
        assert {card.code for card in everybodys} == open_now


def test_a_fragment_that_shows_too_much_is_recognised(monkeypatch):
    def everybody_sees_what_the_punter_sees(state: State, number: int | None) -> object:
        return real(state, PUNTER)

    real = vars(rendering)["public_view"].__globals__["view"]
    monkeypatch.setitem(vars(rendering)["public_view"].__globals__, "view", everybody_sees_what_the_punter_sees)
    one, other = tables(for_others, (), ("TC 2C 5C 3C", "6D 9H TH KS"))
    assert rendering.render_public(one, "en") != rendering.render_public(other, "en")
    assert {card.code for card in cards_in(rendering.render_public(one, "en"))} == {"TC", "5C"}


def test_no_player_sees_the_data_of_the_previous_player_of_a_seat():
    evening = for_others("TC 2C 5C 3C")
    late = {**own_row(PUNTER), "player": 199}  # has taken the seat by the time their own row is read
    sent = rendering.render_own(seen(evening.state, evening.events), late, "en")
    assert not cards_in(sent)


def test_nobodys_balance_is_anybody_elses():
    evening = for_others("TC 2C 5C 3C")
    table = seen(evening.state, evening.events)
    for seat_number in POSITIONS:
        assert "77.77" in rendering.render_own(table, own_row(seat_number), "en")
    balances = {seat.balance for seat in evening.state.seats}
    assert balances == {9_000, 9_400, 9_600, 10_000}
    shown = rendering.render_public(table, "en") + rendering.render_board(table, "en")
    assert not [each for each in ("90.00", "94.00", "96.00", "100.00", "77.77") if each in shown]


def test_nothing_counts_the_cards_of_the_shoe():
    evening = for_others("TC 2C 5C 3C")
    table = seen(evening.state, evening.events)
    for html in (rendering.render_public(table, "en"), rendering.render_board(table, "en")):
        assert not {"308", "298", "294"} & set(re.findall(r"\d+", re.sub(r"<[^>]+>", " ", html)))


def test_a_printed_table_has_no_face_down_card():
    evening = for_others("TC 2C 5C 3C")
    evening.do(DrawCard(PUNTER))
    table = seen(evening.state, evening.events)
    assert table.table_state.dealt_hands.punter.third
    opened = {"2C", "3C", table.table_state.dealt_hands.punter.third.code}
    printed = [repr(table), repr(evening.state), str(evening.state.coup), repr(evening.state.shoe), f"{vars(table)}"]
    for text in printed:
        assert {card.code for card in cards_in(text)} <= opened
