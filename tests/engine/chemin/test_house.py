"""House actions: void a coup, end a bank, close the table. No player gains or loses by them."""

import pytest

from games.engine.chemin import Phase, Refusal, view
from games.engine.chemin.actions import (
    AskCroupier,
    BreakUp,
    BringShoe,
    DealCards,
    DrawCard,
    EndBank,
    GiveSuite,
    Join,
    KeepBank,
    LayStake,
    Leave,
    MakeBid,
    MakeCall,
    TakeBank,
    VoidCoup,
)
from games.engine.chemin.events import (
    Announced,
    Announcement,
    BankEnded,
    BankTaken,
    BidReturned,
    CoupVoided,
    PlayerLeft,
    Settled,
)
from games.engine.chemin.rules import Call
from games.engine.chemin.state import Chips
from tests.engine.chemin.evening import Evening, alone, bank_taken, for_others, play_out, shoe_beginning


def test_a_voided_coup_gives_back_every_stake_and_leaves_the_bank_as_it_was() -> None:
    evening = for_others("TC TD 5C 5D")
    assert CoupVoided((Chips(2, 600), Chips(3, 400))) in evening.do(VoidCoup())
    assert [evening.balance(seat) for seat in (1, 2, 3, 4)] == [9_000, 10_000, 10_000, 10_000]
    assert evening.state.bank == Chips(1, 1000)
    assert not evening.events_of(Settled)


def test_a_coup_can_be_voided_in_each_of_its_phases() -> None:
    calls, stakes, cards = bank_taken(), bank_taken(), bank_taken()
    stakes.all_pass()
    cards.do(MakeCall(2, Call.BANCO_SOLO))
    punter, banker = alone("TC TD 4C 5D 9H"), alone("TC TD 4C 5D 9H")
    banker.do(DrawCard(2))
    for evening, phase in (
        (calls, Phase.CALLS),
        (stakes, Phase.STAKES),
        (cards, Phase.CARDS),
        (punter, Phase.PUNTER),
        (banker, Phase.BANKER),
    ):
        assert evening.state.phase is phase
        evening.do(VoidCoup())
        assert evening.state.phase is Phase.CHOICE
        assert evening.state.coup is None
        assert [evening.balance(seat) for seat in (1, 2, 3, 4)] == [9_000, 10_000, 10_000, 10_000]


def test_the_caller_who_was_relieved_gets_back_what_is_left_of_his_stake() -> None:
    evening = bank_taken()
    evening.do(MakeCall(2, Call.BANCO), LayStake(3, 300))
    assert CoupVoided((Chips(2, 700), Chips(3, 300))) in evening.do(VoidCoup())
    assert evening.balance(2) == evening.balance(3) == 10_000


def test_where_cards_were_drawn_the_shoe_is_set_aside_with_them() -> None:
    evening = alone("TC TD 4C 5D 9H")
    evening.do(VoidCoup())
    assert evening.state.shoe is None
    assert Announced(Announcement.SHOE_IS_SPENT) in evening.do(KeepBank(1))
    evening.do(BringShoe(shoe_beginning("TC TD 4C 5D 9H")))
    assert evening.state.phase is Phase.CALLS


def test_where_no_card_was_drawn_the_shoe_goes_on() -> None:
    evening = bank_taken()
    shoe = evening.state.shoe
    evening.do(MakeCall(2, Call.BANCO_SOLO), VoidCoup())
    assert evening.state.shoe == shoe
    evening.do(KeepBank(1))
    assert evening.state.phase is Phase.CALLS


def test_cards_of_a_voided_coup_are_in_nobodys_view() -> None:
    evening = alone("TC TD 4C 5D 9H")
    evening.do(VoidCoup())
    assert all(view(evening.state, seat).coup is None for seat in (1, 2, None))


def test_after_a_voided_coup_the_banker_may_pass_the_bank_on() -> None:
    evening = alone("TC TD 4C 5D 9H")
    evening.do(VoidCoup(), GiveSuite(1))
    assert evening.state.phase is Phase.SUITE


def test_who_wanted_to_leave_goes_with_his_stake_when_the_coup_is_voided() -> None:
    evening = for_others("TC TD 5C 5D")
    evening.do(Leave(2))
    assert PlayerLeft(2, 10_000) in evening.do(VoidCoup())


def test_the_bank_of_a_banker_who_wanted_to_leave_is_offered_on_when_the_coup_is_voided() -> None:
    evening = for_others("TC TD 5C 5D")
    evening.do(Leave(1))
    happened = evening.do(VoidCoup())
    assert BankEnded(1, 1000) in happened
    assert PlayerLeft(1, 10_000) in happened
    assert evening.state.phase is Phase.SUITE


def test_between_coups_there_is_nothing_to_void() -> None:
    evening = for_others("TC TD 5C 5D")
    play_out(evening, punter_draws=False, banker_draws=True)
    assert evening.refusal(VoidCoup()) is Refusal.NOT_NOW
    assert Evening({}).refusal(VoidCoup()) is Refusal.NOT_NOW


def test_a_settled_coup_can_not_be_voided_by_the_table() -> None:
    evening = alone("TC TD 7C 3D 2H")
    play_out(evening, punter_draws=False, banker_draws=False)
    assert evening.events_of(Settled)
    assert evening.refusal(VoidCoup()) is Refusal.NOT_NOW


def after_a_coup_without_stakes() -> Evening:
    """Seat 1 holds a bank of 1,000 and may keep or pass it."""
    evening = bank_taken()
    evening.all_pass()
    evening.all_pass()
    return evening


def test_a_bank_that_the_house_ends_goes_home_and_is_offered_on_from_the_minimum() -> None:
    evening = after_a_coup_without_stakes()
    assert evening.do(EndBank()) == [BankEnded(1, 1000), Announced(Announcement.WHO_TAKES_THE_BANK, 100)]
    assert (evening.state.phase, evening.state.turn) == (Phase.OFFER, 2)
    assert evening.balance(1) == 10_000


def test_the_house_may_end_a_bank_that_waits_for_a_shoe() -> None:
    evening = alone("TC TD 4C 5D 9H")
    evening.do(VoidCoup(), KeepBank(1), EndBank(), TakeBank(2, 500))
    assert evening.state.phase is Phase.SHOE
    assert evening.state.bank == Chips(2, 500)


def test_a_bank_is_not_ended_in_a_coup_nor_where_there_is_none() -> None:
    assert bank_taken().refusal(EndBank()) is Refusal.NOT_NOW
    assert alone("TC TD 4C 5D 9H").refusal(EndBank()) is Refusal.NOT_NOW
    assert Evening({1: 10_000, 2: 10_000}).refusal(EndBank()) is Refusal.NOT_NOW
    sold = after_a_coup_without_stakes()
    sold.do(GiveSuite(1))
    assert sold.refusal(EndBank()) is Refusal.NOT_NOW


def broken_up(evening: Evening) -> list[PlayerLeft]:
    """Close the table and check that it is empty. Return who left with what."""
    happened = evening.do(BreakUp())
    assert evening.state.phase is Phase.ALONE
    assert (evening.state.seats, evening.state.bank, evening.state.sale, evening.state.turn) == ((), None, None, None)
    assert Announced(Announcement.WAITING_FOR_PLAYERS) in happened
    return [event for event in happened if isinstance(event, PlayerLeft)]


def test_a_table_that_is_broken_up_sends_the_bank_home_and_everyone_with_what_is_his() -> None:
    evening = after_a_coup_without_stakes()
    assert evening.state.phase is Phase.CHOICE
    assert broken_up(evening) == [PlayerLeft(seat, 10_000) for seat in (1, 2, 3, 4)]
    assert evening.events_of(BankEnded) == [BankEnded(1, 1000)]


def test_a_table_that_is_broken_up_in_an_auction_returns_the_bids() -> None:
    evening = after_a_coup_without_stakes()
    evening.do(GiveSuite(1))
    evening.all_pass()
    evening.do(MakeBid(2, 500))
    assert broken_up(evening) == [PlayerLeft(seat, 10_000) for seat in (1, 2, 3, 4)]
    assert evening.events_of(BidReturned) == [BidReturned(2, 500)]


def test_a_table_that_waits_for_a_shoe_can_be_broken_up() -> None:
    evening = alone("TC TD 4C 5D 9H")
    evening.do(VoidCoup(), KeepBank(1))
    assert evening.state.phase is Phase.SHOE
    assert len(broken_up(evening)) == 4


@pytest.mark.parametrize("seated_players", [{}, {1: 10_000}, {1: 10_000, 2: 10_000}, {1: 50, 2: 50}])
def test_a_table_without_a_bank_can_be_broken_up(seated_players: dict[int, int]) -> None:
    assert broken_up(Evening(seated_players)) == [PlayerLeft(seat, balance) for seat, balance in seated_players.items()]


def test_a_table_is_not_broken_up_in_a_coup() -> None:
    evening = bank_taken()
    assert evening.refusal(BreakUp()) is Refusal.NOT_NOW
    evening.do(MakeCall(2, Call.BANCO_SOLO))
    assert evening.refusal(BreakUp()) is Refusal.NOT_NOW
    evening.do(DealCards(1), AskCroupier(2))
    assert evening.refusal(BreakUp()) is Refusal.NOT_NOW


def test_after_a_table_was_broken_up_players_may_sit_down_again() -> None:
    evening = bank_taken()
    evening.do(VoidCoup(), BreakUp(), Join(3, 5_000), Join(4, 5_000))
    assert evening.state.phase is Phase.OFFER
    assert len(evening.events_of(BankTaken)) == 1
