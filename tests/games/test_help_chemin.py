"""The help of Chemin de Fer prints the rules by which its tables play."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from games.engine.cards import FULL_DECK, Card
from games.engine.chemin import Call, Phase, Refused, State, TableRules, apply, new_table
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
from games.engine.chemin.odds import PolicyOdds, chemin_odds
from games.engine.chemin.rules import DECKS, Advice
from games.variants import LANGUAGES
from tests.builders import UNHURRIED_CHEMIN, a_chemin_live_table
from tests.engine.chemin.evening import shoe_beginning
from tests.games.help_figures import CURRENCY, amount, chemin_example_figures, exactly, examples_of, policy, written
from tests.games.help_pages import Tag, help_page, shown_cards
from tests.harness.sweeps import sample
from wallet.models import Currency
from wallet.money import format_money

pytestmark = pytest.mark.django_db

SLUG = "chemin_de_fer"
BANK = 100_000
TWO_CARDS = {total: ("KS", "QS") if total == 0 else ("KS", f"{'A' if total == 1 else total}S") for total in range(8)}
"""Two cards for each total that is not a natural."""

every_language = pytest.mark.parametrize("language", sample(LANGUAGES, 1))


def a_coup(codes: str, stakes: Mapping[int, int]) -> State:
    """Return a table with this shoe after the stakes of several punters, so that the rule binds."""
    state = new_table(TableRules(5, 1, BANK))
    actions: list[Action] = [
        *(Join(seat, BANK) for seat in (1, 2, 3)),
        TakeBank(1, BANK),
        BringShoe(shoe_beginning(codes)),
    ]
    actions += [Pass(2), Pass(3), *(LayStake(seat, stake) for seat, stake in stakes.items()), DealCards(1)]
    for action in actions:
        state, _events = apply(state, action)
    return state


def allowed(state: State) -> str:
    """Return what the deciding side may do under the rule, in the notation of the page."""
    seat, may = state.turn, []
    assert seat
    for action, name in ((DrawCard(seat), "draw"), (Stand(seat), "stand")):
        try:
            apply(state, action)
        except Refused:
            continue
        may.append(name)
    return "choice" if len(may) == 2 else may[0]


def marked(cells: list[Tag]) -> list[str]:
    """Return the content of the cells of a third-card table."""
    return [next(iter(cell.classes)) for cell in cells]


def two_punters(total: int, banker: int, third: int = 0) -> State:
    """Return a coup with these totals of punter and banker and this next card."""
    (one, two), (first, second) = TWO_CARDS[total], TWO_CARDS[banker]
    card = {0: "KD", 1: "AD"}.get(third, f"{third}D")
    return a_coup(f"{one} {first} {two} {second} {card}", {2: 600, 3: 400})


@pytest.mark.sweep
@every_language
def test_the_punter_may_do_what_is_printed(language: str) -> None:
    printed = help_page(language, SLUG).one("article").all("table", "tableau")[0]
    cells = printed.one("tbody").all("td")[:8]
    assert marked(cells) == [allowed(two_punters(total, 0)) for total in range(8)]


@every_language
def test_the_banker_may_do_what_is_printed(language: str) -> None:
    rows = help_page(language, SLUG).one("article").all("table", "tableau")[1].one("tbody").all("tr")
    assert len(rows) == 8
    for total, row in enumerate(rows):
        stood, _events = apply(two_punters(7, total), Stand(2))
        after = [apply(two_punters(0, total, third), DrawCard(2))[0] for third in range(10)]
        assert marked(row.all("td")) == [allowed(state) for state in (stood, *after)]


@every_language
def test_the_chances_are_those_of_the_croupier_and_the_best_of_either_side(language: str) -> None:
    shown = (
        policy(Advice.STAND, Advice.DRAW, Advice.DRAW),
        policy(Advice.DRAW, Advice.STAND, Advice.STAND),
        policy(Advice.STAND, Advice.STAND, Advice.STAND),
    )
    assert max(odds.punter for odds in chemin_odds()) == shown[1].punter
    assert max(odds.banker_after_tax for odds in chemin_odds()) == shown[2].banker_after_tax
    rows = help_page(language, SLUG).one("article").one("table", "chances").rows
    draws, stand = rows[1][1], rows[0][1]
    assert draws != stand
    assert [row[1:] for row in rows[:3]] == [[stand, draws, stand], [draws, stand, stand], [draws, stand, stand]]
    for row, column in zip(rows[3:], zip(*(shares(odds) for odds in shown), strict=True), strict=True):
        assert row[1:] == [written(exactly(share), language) for share in column]


def shares(odds: PolicyOdds) -> tuple[Fraction, ...]:
    """Return probabilities and gains of a policy, computed from its probabilities."""
    won, lost = odds.punter_win, odds.banker_win
    return won, 1 - won - lost, lost, won - lost, lost * Fraction(95, 100) - won


@pytest.mark.sweep
@every_language
def test_the_calls_leave_to_the_others_what_the_table_leaves_them(language: str) -> None:
    rows = help_page(language, SLUG).one("article").one("table", "calls").rows
    assert len(rows) == len(Call)
    for row, call in zip(rows, Call, strict=True):
        least, others = smallest_call(call)
        assert row[1] == amount(least, language)
        if call is Call.BANCO_SOLO:
            assert others == 0
            assert not any(each.isdigit() for each in row[2])
        elif call is not Call.BANCO_AVEC_LA_TABLE:
            assert amount(others, language) in row[2]


def smallest_call(call: Call) -> tuple[int, int]:
    """Return the smallest call and the most that others may then stake, found by trying."""
    state = new_table(TableRules(5, 1, BANK))
    shoe = shoe_beginning("TC 2C 5C 3C")
    for action in (Join(1, BANK), Join(2, BANK), Join(3, BANK), TakeBank(1, BANK), BringShoe(shoe)):
        state, _events = apply(state, action)
    named = call is Call.BANCO_AVEC_LA_TABLE
    least = next(
        money
        for money in (BANK // 2 - 1, BANK // 2, BANK)
        if (not named and money == BANK) or (named and not refuses(state, MakeCall(2, call, money)))
    )
    called, _events = apply(state, MakeCall(2, call, least if named else None))
    if called.phase is not Phase.STAKES:
        return least, 0
    return least, next(stake for stake in (BANK, BANK // 2, 1) if not refuses(called, LayStake(3, stake)))


def refuses(state: State, action: MakeCall | LayStake) -> bool:
    try:
        apply(state, action)
    except Refused:
        return True
    return False


@pytest.mark.sweep
@every_language
def test_every_example_shows_what_the_written_rules_give(language: str) -> None:
    figures = help_page(language, SLUG).one("article").all("figure", "example")
    for figure, example in zip(figures, examples_of(SLUG, language), strict=True):
        expected = chemin_example_figures(example, language)
        punter, banker = figure.all("div", "small-hand")
        assert shown_cards(punter) == [Card.parse(code).code for code in example["punter"].split()]
        assert shown_cards(banker) == example["banker"].split()
        assert [punter.one("b").text, banker.one("b").text] == [expected["total.punter"], expected["total.banker"]]
        for number, row in enumerate(figure.one("table", "example__bets").rows, start=1):
            assert row[1:] == [expected[f"staked.{number}"], expected[f"paid.{number}"]]
        bank = [each.text for each in figure.one("dl").all("dd")]
        assert bank == [expected["before"], expected["tax"], expected["bank"]]


@pytest.mark.sweep
@every_language
def test_the_line_about_decks_has_their_number(language: str) -> None:
    line = help_page(language, SLUG).one("article").one("p", "decks").text
    assert [word for word in line.split() if word.isdigit()] == [str(DECKS), str(len(FULL_DECK))]


@pytest.mark.sweep
@every_language
def test_limits_are_those_of_the_tables_the_markets_own_first(language: str) -> None:
    own = CURRENCY[language]
    other = next(each for each in Currency.values if each != own)
    a_chemin_live_table(other, slug="other")
    a_chemin_live_table(own, slug="own")
    a_chemin_live_table(own, slug="practice", seat_count=5, minimum=2_000, house_players=3)
    first, second = help_page(language, SLUG).one("article").all("table", "bet-limits")
    (_, *real), (practice, *figures) = first.rows
    assert real == ["9", *(format_money(each, own, language) for each in (1_000, 100_000))]
    assert figures == ["5", *(format_money(each, own, language) for each in (2_000, 100_000))]
    assert practice != "Chemin"
    assert second.rows == [["Chemin", "9", *(format_money(each, other, language) for each in (1_000, 100_000))]]


@pytest.mark.sweep
@every_language
def test_times_are_those_of_the_table(language: str) -> None:
    a_chemin_live_table(
        clock=replace(UNHURRIED_CHEMIN, ask=17_000, decide=18_000, deal=14_000, choice=15_000, house_player=100)
    )
    rows = help_page(language, SLUG).one("article").all("table")[-1].rows
    assert [re.findall(r"\d+", length) for _, length in rows] == [["17"], ["18"], ["14"], ["15"], ["2"], ["60"]]
