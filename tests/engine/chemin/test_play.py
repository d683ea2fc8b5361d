"""The house rules of cards, one test each: dealing, drawing, standing, advice."""

from itertools import product

import pytest

from games.engine.chemin import Outcome, Phase, Refusal, Side, view
from games.engine.chemin.actions import (
    AskCroupier,
    BringShoe,
    DealCards,
    DrawCard,
    KeepBank,
    LayStake,
    MakeCall,
    Pass,
    Stand,
    TakeBank,
)
from games.engine.chemin.events import (
    AdviceAsked,
    Announcement,
    HandShown,
    Settled,
    ShoeBrought,
    ThirdCard,
)
from games.engine.chemin.rules import CUT_CARD, Advice, Call, banker_rule, punter_rule
from tests.engine.chemin.evening import Evening, alone, bank_taken, for_others, play_out, shoe_beginning

PUNTER_PAIRS = {0: "TC KC", 1: "TC AC", 2: "TC 2C", 3: "TC 3C", 4: "TC 4C", 5: "TC 5C", 6: "TC 6C", 7: "TC 7C"}
BANKER_PAIRS = {0: "TD KD", 1: "TD AD", 2: "TD 2D", 3: "TD 3D", 4: "TD 4D", 5: "TD 5D", 6: "TD 6D", 7: "TD 7D"}
THIRDS = {0: "QH", 1: "AH", 2: "2H", 3: "3H", 4: "4H", 5: "5H", 6: "6H", 7: "7H", 8: "8H", 9: "9H"}

# The banker's table in the house rules: D draws, S stands, F is free; by the punter's third card 0
# to 9.
BANKER_TABLE = {
    0: "DDDDDDDDDD",
    1: "DDDDDDDDDD",
    2: "DDDDDDDDDD",
    3: "DDDDDDDDSF",
    4: "SSSDDDDDSS",
    5: "SSSSFDDDSS",
    6: "SSSSSSDDSS",
    7: "SSSSSSSSSS",
}
BANKER_AGAINST_STAND = "DDDDDDSS"
EVERY_PAIR_AND_THIRD = list(product(range(8), range(10)))
LETTER = {Advice.DRAW: "D", Advice.STAND: "S", Advice.AS_YOU_PLEASE: "F"}


def dealt(punter: int, banker: int, thirds: str = "", *, others: bool = False) -> Evening:
    """Return a table with hands of these totals, and these cards next in the shoe."""
    first, third = PUNTER_PAIRS[punter].split()
    second, fourth = BANKER_PAIRS[banker].split()
    cards = f"{first} {second} {third} {fourth} {thirds}"
    return for_others(cards) if others else alone(cards)


def allowed(evening: Evening) -> str:
    """Return D, S or F: the options of the seat in turn."""
    seat = evening.state.turn
    assert seat is not None
    may = {type(option.action) for option in view(evening.state, seat).options}
    return {(True, False): "D", (False, True): "S", (True, True): "F"}[(DrawCard in may, Stand in may)]


def test_first_and_third_card_go_to_the_punter_second_and_fourth_to_the_banker() -> None:
    hands = alone("2C 3C 4C 9D").state.dealt_hands
    assert [str(card) for card in hands.punter.pair] == ["2C", "4C"]
    assert [str(card) for card in hands.banker.pair] == ["3C", "9D"]


def test_the_punter_with_the_highest_stake_holds_the_cards() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 300), LayStake(3, 400), LayStake(4, 300), DealCards(1))
    assert evening.state.turn == 3


def test_of_equal_stakes_the_earlier_seat_holds_the_cards() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(Pass(2), LayStake(3, 300), LayStake(4, 300), DealCards(1))
    assert evening.state.turn == 3


def test_of_equal_stakes_the_caller_holds_the_cards() -> None:
    evening = bank_taken()
    evening.do(Pass(2), MakeCall(3, Call.BANCO_ET_LA_TABLE_MARCHE), LayStake(2, 500), DealCards(1))
    assert evening.state.turn == 3


@pytest.mark.parametrize("total", range(8))
def test_the_punter_draws_to_four_is_free_on_five_and_stands_on_six_and_seven(total: int) -> None:
    assert allowed(dealt(total, 7, others=True)) == "DDDDDFSS"[total]


def test_who_departs_from_the_rule_while_others_are_in_is_refused() -> None:
    assert dealt(4, 7, others=True).refusal(Stand(2)) is Refusal.RULE_BINDS
    assert dealt(6, 7, others=True).refusal(DrawCard(2)) is Refusal.RULE_BINDS


@pytest.mark.parametrize("total", [8, 9])
def test_a_punters_natural_is_turned_up_at_once_and_the_banker_may_not_draw(total: int) -> None:
    evening = alone(f"TC 2C {total}C 2D")
    assert evening.events_of(HandShown)[0].natural
    assert evening.events_of(Settled)[0].outcome is Outcome.PUNTER
    assert evening.events_of(ThirdCard) == []


def test_the_bankers_cards_are_turned_up_once_the_punter_has_declared() -> None:
    evening = dealt(6, 5)
    assert evening.events_of(HandShown) == []
    evening.do(Stand(2))
    assert [shown.side for shown in evening.events_of(HandShown)] == [Side.BANKER]


def test_against_a_bankers_natural_the_punter_is_refused_a_third_card() -> None:
    evening = alone("TC TD 4C 8D 5H")
    evening.do(DrawCard(2))
    assert Announcement.NO_THIRD_CARD in evening.said()
    assert evening.events_of(ThirdCard) == []
    assert evening.events_of(Settled)[0].outcome is Outcome.BANKER


def test_only_two_cards_make_a_natural() -> None:
    evening = dealt(4, 5, "4H 4S")
    evening.do(DrawCard(2))
    assert evening.state.phase is Phase.BANKER, "eight in three cards is no natural: the banker may still draw"
    evening.do(DrawCard(1))
    assert evening.events_of(Settled)[0].outcome is Outcome.BANKER


def test_a_natural_nine_beats_a_natural_eight() -> None:
    assert alone("TC TD 8C 9D").events_of(Settled)[0].outcome is Outcome.BANKER


def test_the_punters_two_cards_stay_face_down_until_the_banker_has_finished() -> None:
    evening = dealt(5, 5, "4H 4S")
    evening.do(DrawCard(2))
    assert Side.PUNTER not in [shown.side for shown in evening.events_of(HandShown)]
    happened = evening.do(DrawCard(1))
    kinds = [type(event) for event in happened]
    assert kinds.index(ThirdCard) < kinds.index(HandShown) < kinds.index(Settled)


def test_third_cards_are_dealt_face_up() -> None:
    evening = dealt(4, 5, "6H 4S")
    evening.do(DrawCard(2), DrawCard(1))
    assert [(third.side, str(third.card)) for third in evening.events_of(ThirdCard)] == [
        ("punter", "6H"),
        ("banker", "4S"),
    ]


def test_the_banker_draws_against_a_punter_who_drew_by_the_table() -> None:
    played = {}
    for total, third in EVERY_PAIR_AND_THIRD:
        evening = dealt(4, total, f"{THIRDS[third]} 2S", others=True)
        evening.do(DrawCard(2))
        played[total, third] = allowed(evening)
    by_table = {(total, third): BANKER_TABLE[total][third] for total, third in EVERY_PAIR_AND_THIRD}
    assert played == by_table
    assert {pair: LETTER[banker_rule(*pair)] for pair in EVERY_PAIR_AND_THIRD} == by_table


@pytest.mark.parametrize("total", range(8))
def test_against_a_punter_who_stands_the_banker_draws_to_five(total: int) -> None:
    evening = dealt(6, total, "2S", others=True)
    evening.do(Stand(2))
    assert allowed(evening) == BANKER_AGAINST_STAND[total]
    assert LETTER[banker_rule(total, None)] == BANKER_AGAINST_STAND[total]


def test_the_rule_binds_the_banker_as_soon_as_two_punters_stake() -> None:
    evening = dealt(6, 7, "2S", others=True)
    evening.do(Stand(2))
    assert evening.refusal(DrawCard(1)) is Refusal.RULE_BINDS


@pytest.mark.parametrize("call", [*Call, None])
def test_where_one_punter_alone_faces_the_banker_both_may_depart_whatever_was_called(call: Call | None) -> None:
    for punter, banker in product(range(8), range(8)):
        first, third = PUNTER_PAIRS[punter].split()
        second, fourth = BANKER_PAIRS[banker].split()
        evening = bank_taken(cards=f"{first} {second} {third} {fourth}")
        if call is None:
            evening.all_pass()
            evening.do(LayStake(2, 1))
        else:
            evening.do(MakeCall(2, call, 500 if call is Call.BANCO_AVEC_LA_TABLE else None))
        evening.all_pass()
        evening.do(DealCards(1))
        assert allowed(evening) == "F"
        evening.do(Stand(2))
        assert allowed(evening) == "F"


@pytest.mark.parametrize("total", range(8))
def test_a_player_who_asked_the_croupier_must_follow_the_advice(total: int) -> None:
    evening = dealt(total, 7)
    evening.do(AskCroupier(2))
    stated = view(evening.state, 2).advice
    assert stated is punter_rule(total)
    assert allowed(evening) == LETTER[punter_rule(total)]
    if total != 5:
        departs = Stand(2) if stated is Advice.DRAW else DrawCard(2)
        assert evening.refusal(departs) is Refusal.ADVICE_BINDS


def test_the_banker_too_must_follow_the_advice_he_asked_for() -> None:
    played = {}
    for total, third in EVERY_PAIR_AND_THIRD:
        evening = dealt(4, total, f"{THIRDS[third]} 2S")
        evening.do(DrawCard(2), AskCroupier(1))
        played[total, third] = allowed(evening)
    assert played == {(total, third): BANKER_TABLE[total][third] for total, third in EVERY_PAIR_AND_THIRD}


def test_at_a_free_choice_the_answer_is_as_you_please_and_binds_nothing() -> None:
    evening = dealt(5, 7)
    evening.do(AskCroupier(2))
    assert view(evening.state, 2).advice is Advice.AS_YOU_PLEASE
    assert allowed(evening) == "F"


def test_the_advice_one_side_asked_for_does_not_bind_the_other() -> None:
    evening = dealt(6, 7)
    evening.do(AskCroupier(2), Stand(2))
    assert allowed(evening) == "F"


def test_that_someone_asked_is_heard_but_the_answer_is_his() -> None:
    evening = dealt(5, 7)
    assert evening.do(AskCroupier(2)) == [AdviceAsked(2, Side.PUNTER)]
    assert view(evening.state, 1).advice is None
    assert evening.refusal(AskCroupier(2)) is Refusal.ALREADY_ADVISED


def test_a_coup_takes_four_to_six_cards() -> None:
    used = {}
    for draws in product((False, True), repeat=2):
        evening = alone("TC TD 5C 5D 2H 3H")
        play_out(evening, punter_draws=draws[0], banker_draws=draws[1])
        assert evening.state.shoe is not None
        used[draws] = evening.state.shoe.drawn
    assert used == {(False, False): 4, (True, False): 5, (False, True): 5, (True, True): 6}


def test_a_shoe_is_six_whole_decks() -> None:
    evening = Evening({1: 1000, 2: 1000})
    evening.do(TakeBank(1, 100))
    whole = shoe_beginning("")
    for wrong in ((), whole[:-1], whole[:52], (*whole[:-1], whole[0])):
        assert evening.refusal(BringShoe(wrong)) is Refusal.WRONG_SHOE
    assert ShoeBrought(312) in evening.do(BringShoe(whole))


def test_a_coup_in_which_the_cut_card_appears_is_played_out_and_then_the_shoe_is_spent() -> None:
    evening = bank_taken(cards="2C 2D 5C 4D", bank=100)
    left_at_the_start = []
    while evening.state.phase is not Phase.SHOE:
        if evening.state.phase is Phase.CALLS:
            left_at_the_start.append(cards_left(evening))
        play_on(evening)
    assert min(left_at_the_start) > CUT_CARD
    assert CUT_CARD - 6 < cards_left(evening) <= CUT_CARD
    assert evening.said()[-1] is Announcement.SHOE_IS_SPENT


def test_no_shoe_is_changed_before_it_is_spent() -> None:
    evening = bank_taken()
    assert evening.refusal(BringShoe(shoe_beginning(""))) is Refusal.NOT_NOW


def cards_left(evening: Evening) -> int:
    shoe = evening.state.shoe
    assert shoe is not None
    return len(shoe.cards) - shoe.drawn


def play_on(evening: Evening) -> None:
    """Continue play: players take and keep the bank and call; both sides stand if they may."""
    turn = evening.state.turn
    assert turn is not None
    match evening.state.phase:
        case Phase.OFFER:
            evening.do(TakeBank(turn, 100))
        case Phase.CALLS:
            evening.do(MakeCall(turn, Call.BANCO_SOLO))
        case Phase.CARDS:
            evening.do(DealCards(turn))
            play_out(evening, punter_draws=False, banker_draws=False)
        case Phase.CHOICE:
            evening.do(KeepBank(turn))
        case phase:
            pytest.fail(f"not expected: {phase}")
