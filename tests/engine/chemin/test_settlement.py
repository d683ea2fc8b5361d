"""Outcome, tax and returned stakes, one test for each house rule."""

import pytest

from games.engine.chemin import Outcome
from games.engine.chemin.actions import DealCards, LayStake, MakeCall, Pass, Stand
from games.engine.chemin.events import Settled, SettledStake
from games.engine.chemin.rules import Call, tax_on
from games.engine.chemin.state import Chips
from tests.engine.chemin.evening import Evening, alone, bank_taken

BANKER_WINS = "2C 3C 3D 6C"
PUNTER_WINS = "4C 3C 5D 2C"
DRAW = "4C 5C 5D 4D"


def two_punters(cards: str) -> Evening:
    """Seats 2 and 3 stake 500 and 333 of a bank of 1,000; the coup ends when seat 2 stands."""
    evening = bank_taken(cards=cards)
    evening.all_pass()
    evening.do(LayStake(2, 500), LayStake(3, 333), Pass(4), DealCards(1))
    if not evening.events_of(Settled):
        evening.do(Stand(2))
    return evening


def balances(evening: Evening) -> list[int]:
    return [evening.balance(seat) for seat in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("cards", "totals", "outcome"),
    [
        (BANKER_WINS, (5, 9), Outcome.BANKER),
        (PUNTER_WINS, (9, 5), Outcome.PUNTER),
        ("TC TD 8C 9D", (8, 9), Outcome.BANKER),
    ],
)
def test_the_higher_total_wins(cards: str, totals: tuple[int, int], outcome: Outcome) -> None:
    settled = two_punters(cards).events_of(Settled)[0]
    assert (settled.punter_total, settled.banker_total) == totals
    assert settled.outcome is outcome


def test_equal_totals_are_a_draw_and_every_stake_goes_back() -> None:
    evening = two_punters(DRAW)
    assert evening.events_of(Settled)[0].outcome is Outcome.DRAW
    assert balances(evening) == [9_000, 10_000, 10_000, 10_000]
    assert evening.state.bank == Chips(1, 1000)


def test_punters_win_even_money_on_what_they_staked_and_pay_no_tax() -> None:
    evening = two_punters(PUNTER_WINS)
    settled = evening.events_of(Settled)[0]
    assert settled.stakes == (SettledStake(2, 500, 1000), SettledStake(3, 333, 666))
    assert settled.tax == 0
    assert balances(evening) == [9_000 + 167, 10_500, 10_333, 10_000]


def test_the_bank_grows_by_its_winnings_less_five_per_cent_tax_rounded_down() -> None:
    evening = two_punters(BANKER_WINS)
    settled = evening.events_of(Settled)[0]
    assert settled.tax == 41, "5 % of 833 is 41.65"
    assert evening.state.bank == Chips(1, 1000 + 833 - 41)
    assert settled.bank == 1_792


def test_the_tax_is_taken_once_a_coup_and_not_stake_by_stake() -> None:
    evening = bank_taken(cards=BANKER_WINS)
    evening.all_pass()
    evening.do(LayStake(2, 10), LayStake(3, 10), LayStake(4, 10), DealCards(1), Stand(2))
    assert evening.events_of(Settled)[0].tax == 1, "5 % of 30, where 5 % of 10 three times would be nothing"


@pytest.mark.parametrize(("won", "tax"), [(1, 0), (19, 0), (20, 1), (39, 1), (40, 2), (100, 5), (99_999, 4_999)])
def test_tax_is_rounded_down_to_the_minor_unit(won: int, tax: int) -> None:
    assert tax_on(won) == tax


def test_what_the_banker_had_himself_is_not_taxed() -> None:
    evening = bank_taken(cards=BANKER_WINS, bank=5000)
    evening.all_pass()
    evening.do(LayStake(2, 100), Pass(3), Pass(4), DealCards(1), Stand(2))
    assert evening.events_of(Settled)[0].tax == 5
    assert evening.state.bank == Chips(1, 5_095)


@pytest.mark.parametrize("call", [Call.BANCO_SOLO, Call.BANCO, Call.BANCO_ET_LA_TABLE_MARCHE])
def test_a_lost_banco_breaks_the_bank(call: Call) -> None:
    evening = bank_taken(cards=PUNTER_WINS)
    evening.do(MakeCall(2, call))
    evening.all_pass()
    evening.do(DealCards(1))
    assert balances(evening) == [9_000, 11_000, 10_000, 10_000]


def test_the_coup_stays_on_the_table_with_its_outcome() -> None:
    evening = alone(PUNTER_WINS)
    assert evening.state.coup is not None
    assert evening.state.coup.outcome is Outcome.PUNTER
