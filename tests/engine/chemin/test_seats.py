"""Joining, leaving and stepping away in every phase."""

import pytest

from games.engine.chemin import Phase, Presence, Refusal, RulesError, TableRules
from games.engine.chemin.actions import (
    ComeBack,
    DealCards,
    GiveSuite,
    Join,
    KeepBank,
    LayStake,
    Leave,
    MakeBid,
    MakeCall,
    Pass,
    SetBalance,
    Stand,
    StepAway,
    TakeBank,
)
from games.engine.chemin.events import (
    Announcement,
    BankEnded,
    BidReturned,
    PlayerJoined,
    PlayerLeft,
    PlayerWillLeave,
    Settled,
)
from games.engine.chemin.rules import Call
from games.engine.chemin.state import Chips
from tests.engine.chemin.evening import Evening, alone, bank_taken

BANKER_WINS = "2C 3C 3D 6C"
PUNTER_WINS = "4C 3C 5D 2C"


def won() -> Evening:
    """Seat 1 has won a coup and may keep its bank of 1,950."""
    evening = alone(BANKER_WINS)
    evening.do(Stand(2))
    return evening


@pytest.mark.parametrize("seat_count", [2, 10])
def test_a_table_has_three_to_nine_seats(seat_count: int) -> None:
    with pytest.raises(RulesError):
        TableRules(seat_count, 100, 1000)


@pytest.mark.parametrize(("minimum", "maximum"), [(0, 100), (-1, 100), (101, 100)])
def test_a_table_has_a_minimum_and_a_maximum_between_which_a_bank_fits(minimum: int, maximum: int) -> None:
    with pytest.raises(RulesError):
        TableRules(3, minimum, maximum)


def test_two_occupied_seats_suffice() -> None:
    evening = Evening({4: 500})
    assert evening.state.phase is Phase.ALONE
    evening.do(Join(2, 500))
    assert evening.all_pass() == [2, 4]


def test_every_seat_takes_one_player() -> None:
    evening = Evening({1: 500}, seat_count=3)
    assert evening.refusal(Join(1, 500)) is Refusal.SEAT_TAKEN
    assert evening.refusal(Join(0, 500)) is Refusal.NO_SUCH_SEAT
    assert evening.refusal(Join(4, 500)) is Refusal.NO_SUCH_SEAT
    assert evening.refusal(Join(2, -1)) is Refusal.BAD_AMOUNT


def test_who_is_not_seated_can_do_nothing() -> None:
    evening = bank_taken()
    for action in (Leave(5), StepAway(5), ComeBack(5), SetBalance(5, 100), Pass(5), TakeBank(5, 100)):
        assert evening.refusal(action) is Refusal.NOT_SEATED


def test_a_player_who_sits_down_before_the_turn_comes_to_the_seat_is_asked() -> None:
    evening = bank_taken()
    evening.do(Join(5, 10_000))
    assert evening.all_pass() == [2, 3, 4, 5]


def test_a_player_who_sits_down_after_the_turn_has_passed_the_seat_waits() -> None:
    evening = bank_taken({1: 10_000, 3: 10_000, 4: 10_000})
    evening.do(Join(2, 10_000))
    assert evening.all_pass() == [3, 4]


def test_who_leaves_takes_his_balance_along() -> None:
    evening = bank_taken()
    assert PlayerLeft(4, 10_000) in evening.do(Leave(4))
    assert evening.state.find(4) is None


def test_who_leaves_when_asked_is_passed_over() -> None:
    evening = bank_taken()
    evening.do(Leave(2))
    assert evening.state.turn == 3


def test_who_has_staked_leaves_when_the_coup_is_over() -> None:
    evening = alone(PUNTER_WINS.replace("4C", "TC"))
    assert evening.do(Leave(2)) == [PlayerWillLeave(2)]
    assert evening.refusal(Leave(2)) is Refusal.ALREADY_LEAVING
    happened = evening.do(Stand(2), Stand(1))
    kinds = [type(event) for event in happened]
    assert kinds.index(Settled) < kinds.index(PlayerLeft)
    assert evening.state.find(2) is None


def test_who_changes_his_mind_in_time_stays() -> None:
    evening = alone(BANKER_WINS)
    evening.do(Leave(2), ComeBack(2), Stand(2))
    assert evening.state.seat(2).presence is Presence.PLAYING
    assert evening.refusal(ComeBack(2)) is Refusal.NOT_AWAY


def test_a_banker_who_leaves_during_the_coup_takes_his_bank_home_when_it_is_over() -> None:
    evening = alone(BANKER_WINS)
    evening.do(Leave(1), Stand(2))
    assert BankEnded(1, 1_950) in evening.events
    assert PlayerLeft(1, 10_950) in evening.events
    assert evening.state.phase is Phase.SUITE


def test_a_banker_who_leaves_between_coups_passes_his_bank_on() -> None:
    evening = won()
    evening.do(Leave(1))
    assert PlayerLeft(1, 10_950) in evening.events
    assert evening.state.phase is Phase.SUITE
    assert evening.all_pass() == [2, 3, 4]


def test_a_bid_is_withdrawn_by_leaving() -> None:
    evening = won()
    evening.do(GiveSuite(1))
    evening.all_pass()
    evening.do(MakeBid(2, 800), Leave(2), MakeBid(3, 500), Pass(4))
    assert evening.events_of(BidReturned)[0] == BidReturned(2, 800)
    assert PlayerLeft(2, 11_000 - 2_000) in evening.events
    assert evening.state.bank == Chips(3, 500)


def test_when_only_one_player_is_left_the_bank_goes_home_and_the_table_waits() -> None:
    evening = won()
    evening.do(Leave(2), Leave(3), Leave(4))
    assert evening.state.phase is Phase.ALONE
    assert evening.state.bank is None
    assert evening.balance(1) == 10_950
    assert evening.said()[-1] is Announcement.WAITING_FOR_PLAYERS


def test_when_all_others_leave_while_asked_there_is_no_coup_and_the_table_waits() -> None:
    evening = bank_taken()
    evening.do(Leave(4), Leave(3), Leave(2))
    assert Announcement.NO_STAKES_NO_COUP in evening.said()
    assert evening.state.phase is Phase.ALONE
    assert evening.balance(1) == 10_000


def test_play_resumes_with_an_offer_from_the_last_bankers_right() -> None:
    evening = won()
    evening.do(Leave(2), Leave(3), Leave(4), Join(3, 5_000))
    assert evening.events_of(PlayerJoined)[-1] == PlayerJoined(3, 5_000)
    assert evening.all_pass() == [3, 1]


def test_who_is_away_is_not_asked_until_he_comes_back() -> None:
    evening = bank_taken()
    evening.do(StepAway(3))
    assert evening.refusal(StepAway(3)) is Refusal.ALREADY_AWAY
    assert evening.all_pass() == [2, 4]
    evening.do(ComeBack(3))
    assert evening.all_pass() == [2, 3, 4]


def test_who_steps_away_when_asked_is_passed_over() -> None:
    evening = bank_taken()
    evening.do(StepAway(2))
    assert evening.state.turn == 3


def test_who_steps_away_from_a_coup_stays_in_it() -> None:
    evening = alone(BANKER_WINS)
    evening.do(StepAway(2))
    assert evening.state.turn == 2
    evening.do(Stand(2))
    assert evening.state.seat(2).presence is Presence.AWAY


def test_who_is_away_does_not_open_a_free_bank() -> None:
    evening = Evening({1: 1000, 2: 1000})
    evening.all_pass()
    evening.do(StepAway(1))
    assert evening.refusal(TakeBank(1, 100)) is Refusal.AWAY_FROM_PLAY


def test_a_banker_alone_with_players_who_are_away_finds_no_stakes() -> None:
    evening = won()
    evening.do(StepAway(2), StepAway(3), StepAway(4), KeepBank(1))
    assert evening.said()[-1] is Announcement.NO_STAKES_NO_COUP
    assert evening.state.phase is Phase.CHOICE


def test_money_that_comes_and_goes_at_the_cashier_leaves_what_is_on_the_table_alone() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 600), SetBalance(2, 0), SetBalance(3, 50))
    assert evening.state.running_coup.stakes == (Chips(2, 600),)
    assert evening.refusal(LayStake(3, 51)) is Refusal.NOT_COVERED
    assert evening.refusal(SetBalance(3, -1)) is Refusal.BAD_AMOUNT


def test_who_has_lost_the_money_he_was_asked_for_can_still_let_it_pass() -> None:
    evening = bank_taken()
    evening.do(SetBalance(2, 0))
    assert evening.refusal(MakeCall(2, Call.BANCO)) is Refusal.NOT_COVERED
    evening.do(Pass(2))
    assert evening.state.turn == 3


def test_the_cards_go_on_when_a_bystander_leaves() -> None:
    evening = alone(BANKER_WINS)
    evening.do(Leave(3), Leave(4))
    assert evening.state.phase is Phase.PUNTER
    evening.do(Stand(2))
    assert evening.refusal(DealCards(1)) is Refusal.NOT_NOW
