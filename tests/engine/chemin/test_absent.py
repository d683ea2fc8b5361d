"""If a player does not decide, the croupier decides by the rule and marks the decision."""

import pytest

from games.engine.chemin import Phase, Refusal, apply, default_action
from games.engine.chemin.actions import DrawCard, GiveSuite, KeepBank, LayStake, Pass, Stand, TimeUp
from games.engine.chemin.events import BankEnded, CardsDealt, Declared, Passed, Settled, SuiteGiven
from tests.engine.chemin.evening import Evening, alone, bank_taken, for_others


@pytest.mark.parametrize("second_card", ["KH", "AH", "2H", "3H", "4H"])
def test_an_absent_punter_draws_to_four(second_card: str) -> None:
    assert default_action(alone(f"TC TD {second_card} 7D").state) == DrawCard(2)


@pytest.mark.parametrize("second_card", ["5H", "6H", "7H"])
def test_an_absent_punter_stands_from_five(second_card: str) -> None:
    assert default_action(alone(f"TC TD {second_card} 7D").state) == Stand(2)


def test_an_absent_banker_draws_at_the_free_choices() -> None:
    three_against_nine = alone("TC TD 4C 3D 9H")
    three_against_nine.do(DrawCard(2))
    assert default_action(three_against_nine.state) == DrawCard(1)
    five_against_four = alone("TC TD 4C 5D 4H")
    five_against_four.do(DrawCard(2))
    assert default_action(five_against_four.state) == DrawCard(1)


def test_an_absent_banker_follows_the_rule_even_where_he_might_depart_from_it() -> None:
    three_against_eight = alone("TC TD 4C 3D 8H")
    three_against_eight.do(DrawCard(2))
    assert default_action(three_against_eight.state) == Stand(1)


def test_offers_calls_stakes_and_bids_left_unanswered_count_as_a_pass() -> None:
    evening = Evening({1: 10_000, 2: 10_000})
    assert default_action(evening.state) == Pass(1)
    evening = bank_taken()
    assert default_action(evening.state) == Pass(2)
    evening.all_pass()
    assert evening.state.phase is Phase.STAKES
    assert default_action(evening.state) == Pass(2)


def test_a_bank_that_nobody_keeps_is_passed_on() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.all_pass()
    assert default_action(evening.state) == GiveSuite(1)
    happened = evening.do(TimeUp())
    assert SuiteGiven(seat=1, by_house=True) in happened
    assert BankEnded(1, 1000) in happened


def test_the_croupier_draws_the_cards_for_an_absent_banker() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 1000))
    assert CardsDealt(seat=1, by_house=True, punter=2) in evening.do(TimeUp())


def test_every_decision_says_whether_the_house_made_it() -> None:
    evening = for_others("TC TD 5C 5D")
    assert evening.do(TimeUp())[0] == Declared(seat=2, by_house=True, side="punter", draws=False)  # type: ignore[arg-type]
    assert evening.do(DrawCard(1))[0] == Declared(seat=1, by_house=False, side="banker", draws=True)  # type: ignore[arg-type]


def test_a_bid_left_unanswered_is_a_pass_made_by_the_house() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.all_pass()
    evening.do(GiveSuite(1))
    evening.all_pass()
    assert evening.do(TimeUp())[0] == Passed(seat=2, by_house=True, phase=Phase.AUCTION)


def test_where_nobody_is_asked_no_time_is_up() -> None:
    evening = Evening({1: 10_000})
    assert evening.refusal(TimeUp()) is Refusal.NOBODY_IS_ASKED
    assert default_action(evening.state) is None


@pytest.mark.parametrize("punter", ["TC 2C", "TC 5C", "TC 7C", "TC 9C"])
@pytest.mark.parametrize("banker", ["3D 4D", "TD 5D", "TD 8D"])
def test_a_table_everyone_has_left_to_the_croupier_ends_its_coup_and_its_bank(punter: str, banker: str) -> None:
    first, third = punter.split()
    second, fourth = banker.split()
    evening = bank_taken(cards=f"{first} {second} {third} {fourth}")
    evening.all_pass()
    evening.do(LayStake(2, 300), LayStake(3, 300))
    while default_action(evening.state) is not None:
        evening.do(TimeUp())
    assert len(evening.events_of(Settled)) == 1
    assert evening.state.phase is Phase.FREE
    assert sum(evening.balance(seat) for seat in (1, 2, 3, 4)) + evening.events_of(Settled)[0].tax == 40_000


def test_the_croupiers_decision_is_one_a_player_could_have_made_himself() -> None:
    evening = bank_taken()
    evening.all_pass()
    evening.do(LayStake(2, 1000))
    default = default_action(evening.state)
    assert default is not None
    by_player, by_house = apply(evening.state, default), apply(evening.state, TimeUp())
    assert by_player.state == by_house.state
    evening.do(TimeUp(), TimeUp())
    assert evening.refusal(KeepBank(2)) in (Refusal.NOT_NOW, Refusal.NOT_YOUR_TURN)
