"""The house rules of the bank, one test each."""

import pytest

from games.engine.chemin import Phase, Refusal
from games.engine.chemin.actions import (
    BringShoe,
    DealCards,
    DrawCard,
    GiveSuite,
    KeepBank,
    MakeBid,
    MakeCall,
    Pass,
    Stand,
    TakeBank,
)
from games.engine.chemin.events import (
    Announcement,
    BankEnded,
    BankTaken,
    BidReturned,
    ExcessTakenHome,
    SuiteGiven,
)
from games.engine.chemin.rules import Call
from games.engine.chemin.state import Chips
from tests.engine.chemin.evening import Evening, alone, bank_taken, play_out, shoe_beginning

FOUR = {1: 10_000, 2: 10_000, 3: 10_000, 4: 10_000}

BANKER_WINS = "2C 3C 3D 6C"
"""Punter 5, banker 9."""
PUNTER_WINS = "4C 3C 5D 2C"
"""Punter 9, banker 5."""
DRAW = "4C 5C 5D 4D"
"""Nine each."""


def won(bank: int = 1000, **table: int) -> Evening:
    """Seat 1 has won a coup for the whole bank and may keep or pass it: 1,000 have become 1,950."""
    evening = alone(BANKER_WINS, bank=bank, **table)
    play_out(evening, punter_draws=False, banker_draws=False)
    return evening


def test_the_bank_is_offered_to_the_seats_in_their_order() -> None:
    assert Evening(FOUR).all_pass() == [1, 2, 3, 4]


def test_who_takes_the_bank_puts_it_before_the_croupier() -> None:
    evening = Evening(FOUR)
    evening.do(Pass(1), TakeBank(2, 700))
    assert evening.state.bank == Chips(2, 700)
    assert evening.balance(2) == 9_300


def test_who_takes_the_bank_stakes_at_least_the_table_minimum() -> None:
    assert Evening(FOUR, minimum=100).refusal(TakeBank(1, 99)) is Refusal.BELOW_MINIMUM


def test_the_table_maximum_caps_a_new_bank() -> None:
    assert Evening(FOUR, maximum=5_000).refusal(TakeBank(1, 5_001)) is Refusal.ABOVE_MAXIMUM


def test_a_bank_the_balance_does_not_cover_is_refused() -> None:
    assert Evening(FOUR).refusal(TakeBank(1, 10_001)) is Refusal.NOT_COVERED


def test_only_the_seat_that_is_asked_may_take_the_bank() -> None:
    assert Evening(FOUR).refusal(TakeBank(2, 500)) is Refusal.NOT_YOUR_TURN


def test_if_all_refuse_the_table_waits_and_any_seat_may_open() -> None:
    evening = Evening(FOUR)
    evening.all_pass()
    assert evening.state.phase is Phase.FREE
    assert evening.state.turn is None
    assert evening.said()[-1] is Announcement.BANK_IS_FREE
    evening.do(TakeBank(3, 500))
    assert evening.state.bank == Chips(3, 500)


def test_who_cannot_cover_the_minimum_is_not_kept_waiting_for() -> None:
    evening = Evening({1: 99, 2: 10_000, 3: 10_000}, minimum=100)
    assert evening.state.turn == 2


def test_winnings_stay_in_the_bank() -> None:
    evening = won(bank=1000)
    evening.do(KeepBank(1))
    assert evening.state.bank == Chips(1, 1_950)
    assert evening.state.phase is Phase.CALLS


def test_what_the_bank_grows_beyond_the_table_maximum_goes_to_the_banker() -> None:
    evening = won(bank=1000, maximum=1500)
    assert evening.events_of(ExcessTakenHome) == [ExcessTakenHome(1, 450)]
    assert evening.state.bank == Chips(1, 1_500)
    assert evening.balance(1) == 9_000 + 450


def test_after_a_lost_coup_the_bank_is_given_up_and_offered_to_the_next_seat_without_an_auction() -> None:
    evening = alone(PUNTER_WINS)
    assert evening.state.bank is None
    assert evening.events_of(BankEnded) == [BankEnded(1, 0)]
    assert evening.state.phase is Phase.OFFER
    assert evening.state.turn == 2
    assert evening.refusal(KeepBank(1)) is Refusal.NOT_NOW


def test_after_a_lost_coup_the_loser_is_the_last_to_be_offered_the_bank() -> None:
    evening = alone(PUNTER_WINS)
    assert evening.all_pass() == [2, 3, 4, 1]


def test_what_was_not_covered_returns_to_the_banker_who_lost() -> None:
    evening = bank_taken(cards=PUNTER_WINS)
    evening.do(MakeCall(2, Call.BANCO_AVEC_LA_TABLE, 600))
    evening.all_pass()
    evening.do(DealCards(1))
    assert evening.events_of(BankEnded) == [BankEnded(1, 400)]
    assert evening.balance(1) == 9_400


@pytest.mark.parametrize("cards", [BANKER_WINS, DRAW])
def test_after_a_won_or_drawn_coup_the_banker_keeps_or_passes_on(cards: str) -> None:
    evening = alone(cards)
    play_out(evening, punter_draws=False, banker_draws=False)
    assert evening.state.phase is Phase.CHOICE
    assert evening.state.turn == 1


def test_giving_a_suite_takes_the_whole_bank_home() -> None:
    evening = won()
    evening.do(GiveSuite(1))
    assert evening.events_of(SuiteGiven) == [SuiteGiven(seat=1)]
    assert evening.events_of(BankEnded) == [BankEnded(1, 1_950)]
    assert evening.balance(1) == 10_950


def test_a_bank_passed_on_is_offered_to_the_others_at_its_full_amount() -> None:
    evening = won()
    evening.do(GiveSuite(1))
    assert evening.state.phase is Phase.SUITE
    assert evening.refusal(TakeBank(2, 1_949)) is Refusal.NOT_THE_FULL_AMOUNT
    assert evening.refusal(TakeBank(2, 1_951)) is Refusal.NOT_THE_FULL_AMOUNT
    assert evening.all_pass() == [2, 3, 4]


def test_who_takes_over_puts_up_the_same_amount_of_his_own() -> None:
    evening = won()
    evening.do(GiveSuite(1), Pass(2), TakeBank(3, 1_950))
    assert evening.state.bank == Chips(3, 1_950)
    assert evening.balance(3) == 10_000 - 1_950


def test_if_nobody_takes_it_at_that_it_is_auctioned_and_the_outgoing_banker_does_not_bid() -> None:
    evening = won()
    evening.do(GiveSuite(1))
    evening.all_pass()
    assert evening.state.phase is Phase.AUCTION
    assert evening.refusal(MakeBid(1, 500)) is Refusal.NOT_YOUR_TURN
    assert evening.all_pass() == [2, 3, 4]


def auction() -> Evening:
    """Return a bank of 1,950 that nobody took over."""
    evening = won()
    evening.do(GiveSuite(1))
    evening.all_pass()
    return evening


def test_a_bid_is_between_the_minimum_and_the_full_amount() -> None:
    evening = auction()
    assert evening.refusal(MakeBid(2, 99)) is Refusal.BELOW_MINIMUM
    assert evening.refusal(MakeBid(2, 1_950)) is Refusal.NOT_UNDER_THE_FULL_AMOUNT
    evening.do(MakeBid(2, 1_949))


def test_a_bid_the_balance_does_not_cover_is_refused() -> None:
    evening = Evening({1: 10_000, 2: 10_000, 3: 300})
    evening.do(TakeBank(1, 1000), BringShoe(shoe_beginning(BANKER_WINS)), MakeCall(2, Call.BANCO_SOLO), DealCards(1))
    evening.do(Stand(2), GiveSuite(1), Pass(2), Pass(2))
    assert evening.state.turn == 3
    assert evening.refusal(MakeBid(3, 301)) is Refusal.NOT_COVERED


def test_the_highest_bid_wins_and_is_the_bank() -> None:
    evening = auction()
    evening.do(MakeBid(2, 300), MakeBid(3, 800), MakeBid(4, 500))
    assert evening.state.bank == Chips(3, 800)
    assert [evening.balance(seat) for seat in (3, 4)] == [9_200, 10_000]
    assert evening.events_of(BidReturned) == [BidReturned(2, 300), BidReturned(3, 800), BidReturned(4, 500)]


def test_equal_bids_go_to_the_earlier_seat() -> None:
    evening = auction()
    evening.do(Pass(2), MakeBid(3, 800), MakeBid(4, 800))
    assert evening.state.bank == Chips(3, 800)


def test_if_nobody_bids_the_next_seat_in_order_may_start_again_at_the_minimum() -> None:
    evening = auction()
    evening.all_pass()
    assert evening.state.phase is Phase.OFFER
    assert evening.state.turn == 2
    evening.do(TakeBank(2, 100))
    assert evening.state.bank == Chips(2, 100)


def test_a_bank_at_the_minimum_cannot_be_bid_for() -> None:
    evening = bank_taken(bank=100)
    evening.all_pass()
    evening.all_pass()
    evening.do(GiveSuite(1))
    evening.all_pass()
    assert evening.state.phase is Phase.OFFER
    assert Announcement.BANK_TO_THE_HIGHEST_BID not in evening.said()


def test_without_stakes_there_is_no_coup_and_the_banker_keeps_or_passes() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.all_pass()
    assert evening.said()[-1] is Announcement.NO_STAKES_NO_COUP
    assert evening.state.phase is Phase.CHOICE
    evening.do(KeepBank(1))
    assert evening.said()[-1] is Announcement.WHO_CALLS_BANCO


def test_two_players_suffice_for_a_whole_round_of_the_bank() -> None:
    evening = Evening({2: 5_000, 5: 5_000})
    evening.do(TakeBank(2, 1000), BringShoe(shoe_beginning(BANKER_WINS)), MakeCall(5, Call.BANCO_SOLO))
    evening.do(DealCards(2), DrawCard(5), GiveSuite(2), TakeBank(5, 1_950))
    assert evening.events_of(BankTaken) == [BankTaken(2, 1000), BankTaken(5, 1_950)]
