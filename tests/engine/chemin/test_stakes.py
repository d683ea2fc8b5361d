"""The house rules of calls and stakes, one test each."""

import pytest

from games.engine.chemin import Phase, Refusal
from games.engine.chemin.actions import DealCards, LayStake, MakeCall, Pass
from games.engine.chemin.events import Announced, Announcement, CallMade, StakeLaid, StakeRelieved
from games.engine.chemin.rules import Call
from games.engine.chemin.state import Chips
from tests.engine.chemin.evening import Evening, bank_taken

COVERING = [Call.BANCO, Call.BANCO_ET_LA_TABLE_MARCHE]


def staked(evening: Evening) -> dict[int, int]:
    return {stake.seat: stake.amount for stake in evening.state.running_coup.stakes}


def test_each_seat_is_asked_once_for_a_call_in_order_from_the_bankers_right() -> None:
    evening = bank_taken()
    assert evening.state.phase is Phase.CALLS
    assert evening.all_pass() == [2, 3, 4]
    assert evening.refusal(MakeCall(2, Call.BANCO)) is Refusal.NOT_NOW


def test_who_has_let_his_call_go_by_may_not_call_after_all() -> None:
    evening = bank_taken()
    evening.do(Pass(2))
    assert evening.refusal(MakeCall(2, Call.BANCO)) is Refusal.NOT_YOUR_TURN


def test_the_first_call_holds_and_the_others_may_only_join_it() -> None:
    evening = bank_taken()
    evening.do(Pass(2), MakeCall(3, Call.BANCO))
    assert evening.refusal(MakeCall(4, Call.BANCO_SOLO)) is Refusal.NOT_NOW
    assert evening.state.phase is Phase.STAKES
    assert evening.all_pass() == [2, 4]


def test_the_banker_does_not_play_against_himself() -> None:
    evening = bank_taken()
    assert 1 not in evening.all_pass() + evening.all_pass()


def test_banco_solo_plays_alone_for_all_of_the_bank() -> None:
    evening = bank_taken()
    evening.do(MakeCall(2, Call.BANCO_SOLO))
    assert staked(evening) == {2: 1000}
    assert evening.state.phase is Phase.CARDS


@pytest.mark.parametrize("call", COVERING)
def test_who_calls_banco_covers_what_the_others_do_not_take(call: Call) -> None:
    evening = bank_taken()
    evening.do(MakeCall(2, call), LayStake(3, 300), Pass(4))
    assert staked(evening) == {2: 700, 3: 300}
    assert evening.events_of(StakeRelieved) == [StakeRelieved(2, 300)]
    assert [evening.balance(seat) for seat in (2, 3)] == [9_300, 9_700]


@pytest.mark.parametrize("call", COVERING)
def test_the_others_take_together_at_most_half_of_a_banco(call: Call) -> None:
    evening = bank_taken()
    evening.do(MakeCall(2, call), LayStake(3, 300))
    assert evening.refusal(LayStake(4, 201)) is Refusal.MORE_THAN_IS_OPEN
    evening.do(LayStake(4, 200))
    assert staked(evening) == {2: 500, 3: 300, 4: 200}


def test_banco_et_la_table_marche_obliges_the_caller_to_take_what_the_others_leave() -> None:
    evening = bank_taken()
    evening.do(MakeCall(2, Call.BANCO_ET_LA_TABLE_MARCHE))
    evening.all_pass()
    assert staked(evening) == {2: 1000}


@pytest.mark.parametrize("call", [Call.BANCO_SOLO, *COVERING])
def test_who_answers_for_the_whole_bank_must_be_able_to_cover_it(call: Call) -> None:
    evening = bank_taken({1: 10_000, 2: 999, 3: 10_000})
    assert evening.refusal(MakeCall(2, call)) is Refusal.NOT_COVERED


def test_banco_avec_la_table_takes_at_least_half_the_bank() -> None:
    evening = bank_taken(bank=1001)
    assert evening.refusal(MakeCall(2, Call.BANCO_AVEC_LA_TABLE, 500)) is Refusal.LESS_THAN_HALF
    assert evening.refusal(MakeCall(2, Call.BANCO_AVEC_LA_TABLE, 1002)) is Refusal.MORE_THAN_IS_OPEN
    evening.do(MakeCall(2, Call.BANCO_AVEC_LA_TABLE, 501))
    assert evening.events_of(CallMade) == [CallMade(2, Call.BANCO_AVEC_LA_TABLE, 501)]


def test_what_the_others_leave_of_a_banco_avec_la_table_is_not_at_risk() -> None:
    evening = bank_taken()
    evening.do(MakeCall(2, Call.BANCO_AVEC_LA_TABLE, 600), LayStake(3, 150), Pass(4))
    assert staked(evening) == {2: 600, 3: 150}
    assert evening.state.running_coup.at_risk == 750
    assert evening.balance(2) == 9_400


@pytest.mark.parametrize(
    ("call", "amount"), [(Call.BANCO_SOLO, 1000), (Call.BANCO, 500), (Call.BANCO_AVEC_LA_TABLE, None)]
)
def test_only_banco_avec_la_table_names_an_amount(call: Call, amount: int | None) -> None:
    assert bank_taken().refusal(MakeCall(2, call, amount)) is Refusal.BAD_AMOUNT


def test_the_odd_minor_unit_of_a_half_is_the_callers() -> None:
    evening = bank_taken(bank=1001)
    evening.do(MakeCall(2, Call.BANCO_ET_LA_TABLE_MARCHE))
    assert evening.refusal(LayStake(3, 501)) is Refusal.MORE_THAN_IS_OPEN
    evening.do(LayStake(3, 500))
    assert staked(evening) == {2: 501, 3: 500}


def test_who_was_asked_before_the_call_may_still_join_it() -> None:
    evening = bank_taken()
    evening.do(Pass(2), Pass(3), MakeCall(4, Call.BANCO_ET_LA_TABLE_MARCHE), LayStake(2, 500))
    assert staked(evening) == {4: 500, 2: 500}


def test_who_can_make_no_call_is_not_kept_waiting_for_one_but_may_stake() -> None:
    evening = bank_taken({1: 10_000, 2: 499, 3: 10_000})
    assert evening.state.turn == 3
    evening.do(Pass(3))
    assert evening.state.turn == 2


def test_with_no_call_punters_stake_in_turn_until_the_bank_is_covered() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 400), LayStake(3, 600))
    assert evening.state.phase is Phase.CARDS
    assert staked(evening) == {2: 400, 3: 600}


def test_what_is_left_uncovered_is_not_at_risk() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 400), Pass(3), Pass(4))
    assert evening.state.running_coup.at_risk == 400
    assert evening.state.bank == Chips(1, 1000)


def test_stakes_are_at_most_what_is_in_the_bank() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 400))
    assert evening.refusal(LayStake(3, 601)) is Refusal.MORE_THAN_IS_OPEN


def test_a_stake_that_the_balance_does_not_cover_is_refused() -> None:
    evening = bank_taken({1: 10_000, 2: 300, 3: 10_000})
    evening.all_pass()
    assert evening.refusal(LayStake(2, 301)) is Refusal.NOT_COVERED


@pytest.mark.parametrize("amount", [0, -5])
def test_a_stake_is_a_positive_amount(amount: int) -> None:
    evening = bank_taken()
    evening.all_pass()
    assert evening.refusal(LayStake(2, amount)) is Refusal.BAD_AMOUNT


def test_every_stake_is_marked_and_reported() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 400))
    assert evening.events_of(StakeLaid) == [StakeLaid(2, 400)]
    assert evening.balance(2) == 9_600


def test_nothing_changes_after_rien_ne_va_plus() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 400), Pass(3), Pass(4))
    assert Announced(Announcement.RIEN_NE_VA_PLUS, 400) in evening.events
    for late in (LayStake(3, 100), MakeCall(3, Call.BANCO), Pass(3)):
        assert evening.refusal(late) is Refusal.NOT_NOW


def test_the_croupier_calls_for_the_cards_and_only_then_does_the_banker_draw() -> None:
    evening = bank_taken()
    assert evening.refusal(DealCards(1)) is Refusal.NOT_NOW
    evening.do(MakeCall(2, Call.BANCO_SOLO))
    assert evening.said()[-2:] == [Announcement.RIEN_NE_VA_PLUS, Announcement.BITTE_DIE_KARTEN]
    assert evening.refusal(DealCards(2)) is Refusal.NOT_YOUR_TURN
    evening.do(DealCards(1))
    assert evening.state.phase is Phase.PUNTER
