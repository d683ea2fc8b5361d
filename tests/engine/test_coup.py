"""A deal, from the first card to the score."""

import itertools

import pytest

from games.engine.cards import FULL_DECK
from games.engine.coup import Outcome, Pairing, Side, TooFewCards, deal
from tests.engine.builders import cards, coup


def test_cards_go_to_player_and_banker_in_turn() -> None:
    dealt = coup("2C 3C 4C 4D")
    assert (dealt.player, dealt.banker) == (cards("2C 4C"), cards("3C 4D"))


def test_a_hand_is_worth_the_last_digit_of_its_sum() -> None:
    assert coup("7C KC 8C 7D 9H 2C").player_total == 4  # 7 + 8 = 15, a five; plus nine
    assert coup("6C KC 7C QD 6H KS").player_total == 9  # 6 + 7 = 13, a three; plus six


@pytest.mark.parametrize("codes", ["8C 2C KC 3C", "2C 9C 3C KC", "4C 4D 4H 4S", "9C 8C KC TC"])
def test_nobody_draws_after_a_natural(codes: str) -> None:
    dealt = coup(codes + " 5H 5D")
    assert dealt.natural
    assert len(dealt.cards) == 4


def test_both_stand_on_six_and_seven() -> None:
    dealt = coup("6C 7C KC KD 5H 5D")
    assert not dealt.natural
    assert (len(dealt.cards), dealt.outcome) == (4, Outcome.BANKER)


def test_eight_or_nine_in_three_cards_is_no_natural() -> None:
    dealt = coup("2C 3C 3H 3D 4H KC")
    assert (dealt.player_total, dealt.natural) == (9, False)


def test_the_third_cards_come_player_first() -> None:
    dealt = coup("2C 2D KC KD 3H 4S")
    assert (dealt.player, dealt.banker) == (cards("2C KC 3H"), cards("2D KD 4S"))


def test_banker_may_draw_where_player_stood() -> None:
    dealt = coup("6C 2D KC 3D 4S 9H")
    assert (dealt.player, dealt.banker) == (cards("6C KC"), cards("2D 3D 4S"))


@pytest.mark.parametrize("codes", ["8C 2C KC 3C", "6C 2D KC 3D 4S", "2C 7D KC KD 3H", "2C 2D KC KD 3H 4S"])
def test_the_cards_of_a_coup_are_those_dealt_in_the_order_dealt(codes: str) -> None:
    assert coup(codes + " AC AD").cards == cards(codes)


def test_the_score_shows_two_cards_then_all_of_them() -> None:
    dealt = coup("2C 7D KC KD 3H")
    assert (dealt.score(Side.PLAYER), dealt.score(Side.BANKER)) == ("2:5", "7:7")


@pytest.mark.parametrize(
    ("codes", "outcome"),
    [("9C 8C KC KD", Outcome.PLAYER), ("8C 9C KC KD", Outcome.BANKER), ("9C 9D KC KD", Outcome.TIE)],
)
def test_nearest_to_nine_wins_and_equal_totals_tie(codes: str, outcome: Outcome) -> None:
    assert coup(codes).outcome is outcome


@pytest.mark.parametrize("codes", ["", "2C", "2C 3C 4C", "2C 2D KC KD", "2C 2D KC KD 3H"])
def test_a_coup_that_cannot_be_completed_is_refused(codes: str) -> None:
    with pytest.raises(TooFewCards):
        coup(codes)


def test_a_shoe_is_left_at_the_next_coup() -> None:
    shoe = iter(FULL_DECK)
    dealt = [deal(shoe) for _ in range(8)]
    assert list(itertools.chain.from_iterable(one.cards for one in dealt)) == list(FULL_DECK[: -len(list(shoe))])


@pytest.mark.parametrize(
    ("codes", "player", "banker"),
    [
        ("KC 2D QC 4D 4C 5D", Pairing.NONE, Pairing.NONE),
        ("KC 2D KH 2H 4C 5D", Pairing.RANK, Pairing.RANK),
        ("KC 2D KC 2D 4C 5D", Pairing.RANK_AND_SUIT, Pairing.RANK_AND_SUIT),
        ("KC 2D 4C 4D KC 2D", Pairing.NONE, Pairing.NONE),
    ],
    ids=["king and queen are no pair", "one rank", "one rank and suit", "third cards make no pair"],
)
def test_a_pair_is_two_first_cards_of_one_rank(codes: str, player: Pairing, banker: Pairing) -> None:
    dealt = coup(codes)
    assert (dealt.player_pair, dealt.banker_pair) == (player, banker)
