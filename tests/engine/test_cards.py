"""The fifty-two cards, each one object."""

import copy
import dataclasses
import pickle

import pytest

from games.engine.cards import FULL_DECK, Card, CardError, Rank, Suit


def test_a_deck_has_every_rank_of_every_suit_once() -> None:
    assert len(FULL_DECK) == 52
    assert {(card.rank, card.suit) for card in FULL_DECK} == {(rank, suit) for rank in Rank for suit in Suit}


def test_an_unshuffled_deck_runs_from_the_ace_of_clubs_to_the_king_of_spades() -> None:
    assert " ".join(map(str, FULL_DECK)) == " ".join(rank + suit for suit in "CDHS" for rank in "A23456789TJQK")


def test_an_ace_counts_one_numbers_their_face_value_ten_and_court_cards_nothing() -> None:
    points = [(card.rank.letter, card.points) for card in FULL_DECK[:13]]
    assert points == list(zip("A23456789TJQK", [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0], strict=True))


@pytest.mark.parametrize("card", FULL_DECK, ids=str)
def test_a_code_names_its_card(card: Card) -> None:
    assert Card.parse(card.code) is card


@pytest.mark.parametrize("code", ["", "9", "10H", "9h", "HN", "9H ", "1C", "XX", None, 9, ["9H"]])
def test_a_text_that_names_no_card_is_refused_by_name(code: object) -> None:
    with pytest.raises(CardError) as refused:
        Card.parse(code)  # type: ignore[arg-type]
    assert repr(code) in str(refused.value)


def test_a_card_is_written_as_its_code_with_a_symbol_for_its_suit() -> None:
    nine = Card.parse("9H")
    assert (str(nine), nine.rank.letter, nine.suit.letter, nine.suit.symbol) == ("9H", "9", "H", "♥")


def test_copies_and_pickles_of_a_card_are_the_card_itself() -> None:
    king = Card.parse("KS")
    assert copy.deepcopy(king) is king
    assert pickle.loads(pickle.dumps(king)) is king  # noqa: S301


def test_a_card_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Card.parse("KS").points = 9  # type: ignore[misc]
