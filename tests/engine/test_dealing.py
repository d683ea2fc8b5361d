"""Dealing of a shoe from the first to the last coup."""

import itertools
from hashlib import sha256

import pytest

from games.engine.cards import FULL_DECK, Card, Rank
from games.engine.coup import TooFewCards, deal
from games.engine.dealing import CUT_CARD, coup_at, coups, cut_card_is_out, is_whole, opening
from games.engine.shoe import shuffle
from tests.engine.builders import cards

MOST_CARDS = 6
DECKS = 8
SHOE = FULL_DECK * DECKS

LONGEST_COUP = cards("2C 2D KC KD 3H 4S")
SHORTEST_COUP = cards("9C 8C KC KD")


def shoe_of(number: int) -> tuple[Card, ...]:
    """Return one of many shuffled shoes."""
    return shuffle(sha256(b"dealing %d" % number).digest(), DECKS)


def test_as_many_cards_are_burned_after_the_first_as_it_counts_and_ten_where_it_counts_nothing() -> None:
    for burn_card in FULL_DECK:
        pips = list(Rank).index(burn_card.rank) + 1
        begun = opening((burn_card, *SHOE[1:]))
        assert begun.burn_card is burn_card
        assert begun.burned == 1 + min(pips, 10), burn_card


@pytest.mark.parametrize("decks", range(1, 9))
def test_the_cut_card_is_fourteen_cards_before_the_end_and_behind_the_burned_ones(decks: int) -> None:
    begun = opening(FULL_DECK * decks)
    assert begun.cut == 52 * decks - 14
    assert begun.burned <= 11 < begun.cut


def test_the_cut_card_comes_out_with_the_first_card_behind_it() -> None:
    assert [gone for gone in range(-20, 21) if cut_card_is_out(100 + gone, 100)] == list(range(1, 21))


@pytest.mark.parametrize("coup_of", [LONGEST_COUP, SHORTEST_COUP], ids=["long coups", "short coups"])
@pytest.mark.parametrize("begins_before_the_cut_card", range(MOST_CARDS))
def test_wherever_the_cut_card_comes_out_its_coup_and_the_one_after_it_have_their_cards(
    begins_before_the_cut_card: int, coup_of: tuple[Card, ...]
) -> None:
    """Tests every position of the cut card in a coup, with the longest and the shortest coups."""
    cut = 416 - CUT_CARD
    gone = cut - begins_before_the_cut_card
    shoe = (*SHOE[:gone], *itertools.islice(itertools.cycle(coup_of), 416 - gone))
    coups_after_it = 0
    last = False
    while not last:
        last = cut_card_is_out(gone, cut)
        coups_after_it += last
        gone += len(coup_at(shoe, gone).cards)
    assert coups_after_it == 1
    assert gone <= 416


def test_a_coup_that_ends_in_front_of_the_cut_card_is_not_the_one_it_comes_out_in() -> None:
    assert not cut_card_is_out(gone=402, cut=402)
    assert cut_card_is_out(gone=403, cut=402)


def test_real_shoes_are_dealt_to_one_coup_after_the_cut_card() -> None:
    for number in range(200):
        shoe = shoe_of(number)
        begun = opening(shoe)
        gone = begun.burned
        one_by_one = []
        last = False
        while not last:
            last = cut_card_is_out(gone, begun.cut)
            one_by_one.append(coup_at(shoe, gone))
            gone += len(one_by_one[-1].cards)
        assert begun.cut + 4 < gone <= begun.cut + 12
        assert list(coups(shoe)) == one_by_one


def test_a_coup_begins_with_the_first_card_that_has_not_left_the_shoe() -> None:
    shoe = shoe_of(0)
    one_after_another = iter(shoe)
    gone = 0
    while gone < 402:
        coup = coup_at(shoe, gone)
        assert coup.cards == shoe[gone : gone + len(coup.cards)]
        assert coup == deal(one_after_another)
        gone += len(coup.cards)


def test_a_coup_may_use_the_very_last_card_but_none_after_it() -> None:
    assert coup_at((*SHOE, *LONGEST_COUP), len(SHOE)).cards == LONGEST_COUP
    with pytest.raises(TooFewCards):
        coup_at((*SHOE, *LONGEST_COUP[:-1]), len(SHOE))
    with pytest.raises(TooFewCards):
        coup_at(SHOE, len(SHOE))


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_a_shuffled_shoe_is_whole(decks: int) -> None:
    assert is_whole(shuffle(bytes(32), decks), decks)


@pytest.mark.parametrize("place", [0, 207, 415])
def test_a_shoe_with_a_card_too_many_too_few_or_another_instead_is_not_whole(place: int) -> None:
    shoe = shoe_of(1)
    without = shoe[:place] + shoe[place + 1 :]
    another = next(card for card in FULL_DECK if card is not shoe[place])
    assert not is_whole(without, DECKS)
    assert not is_whole((*shoe, shoe[place]), DECKS)
    assert not is_whole((*without, another), DECKS)
    assert is_whole((*without, shoe[place]), DECKS)


def test_a_shoe_of_other_decks_is_not_whole() -> None:
    assert not is_whole(FULL_DECK * 7, DECKS)
    assert not is_whole((), 1)
