"""The count of all coups, verified by dealing."""

from collections import Counter
from itertools import product
from math import perm, prod

import pytest

from games.engine.cards import FULL_DECK, Rank, Suit
from games.engine.counting import BadDecks, count_coups
from games.engine.coup import NATURALS, Outcome, Pairing, deal, pairing, total
from games.engine.odds import count_outcomes

DECKS = [1, 2, 3, 4, 6, 8]
PointsDealt = Counter[tuple[int, int, bool, tuple[int, ...]]]
"""The number of each result by the six values used, in any order."""
NaturalsDealt = Counter[tuple[tuple[int, int, Pairing, Pairing], tuple[int, ...]]]
"""The number of each result by how often the same card occurs."""

CARDS_PER_POINTS = Counter(card.points for card in FULL_DECK)


def test_one_deck_has_exactly_these_coups() -> None:
    assert count_outcomes(decks=1) == {"banker": 6_737_232_640, "player": 6_548_674_432, "tie": 1_372_227_328}


def test_two_decks_have_exactly_these_coups() -> None:
    assert count_outcomes(decks=2) == {"banker": 501_543_728_128, "player": 487_816_735_232, "tie": 103_154_274_240}


def test_four_decks_have_exactly_these_coups() -> None:
    assert count_outcomes(decks=4) == {
        "banker": 34_543_624_867_840,
        "player": 33_608_344_225_792,
        "tie": 7_145_601_996_928,
    }


def test_six_decks_have_exactly_these_coups() -> None:
    assert count_outcomes(decks=6) == {
        "banker": 403_095_751_234_560,
        "player": 392_220_492_728_832,
        "tie": 83_552_962_932_288,
    }


def test_eight_decks_have_exactly_these_coups() -> None:
    assert count_outcomes(decks=8) == {
        "banker": 2_292_252_566_437_888,
        "player": 2_230_518_282_592_256,
        "tie": 475_627_426_473_216,
    }


@pytest.mark.parametrize("decks", DECKS)
def test_all_coups_together_are_all_ways_of_drawing_six_cards(decks: int) -> None:
    assert sum(count_coups(decks).values()) == perm(52 * decks, 6)


@pytest.fixture(scope="module")
def coups_by_points_used() -> PointsDealt:
    """Deal every sequence of six card values once."""
    one_card_each = sorted(FULL_DECK[:10], key=lambda card: card.points)
    dealt: PointsDealt = Counter()
    for row in product(one_card_each, repeat=6):
        coup = deal(row)
        values = tuple(sorted([card.points for card in row]))
        dealt[coup.player_total, coup.banker_total, coup.natural, values] += 1
    return dealt


@pytest.mark.sweep
@pytest.mark.parametrize("decks", DECKS)
def test_dealing_every_row_of_six_values_gives_the_same_count(decks: int, coups_by_points_used: PointsDealt) -> None:
    dealt: Counter[tuple[int, int, bool]] = Counter()
    for (player, banker, natural, values), rows in coups_by_points_used.items():
        drawn = Counter(values)
        dealt[player, banker, natural] += rows * prod(
            perm(CARDS_PER_POINTS[v] * decks, times) for v, times in drawn.items()
        )
    counted: Counter[tuple[int, int, bool]] = Counter()
    for coup, ways in count_coups(decks).items():
        counted[coup.player_total, coup.banker_total, coup.natural] += ways
    assert counted == +dealt


@pytest.fixture(scope="module")
def naturals_by_repeats() -> NaturalsDealt:
    """Deal every pair with every two cards once, if one of the hands is a natural."""
    kinds = {(rank, suit): FULL_DECK[13 * s + r] for r, rank in enumerate(Rank) for s, suit in enumerate(Suit)}
    hands = [(hand, total(hand), pairing(*hand)) for hand in product(FULL_DECK, repeat=2)]
    dealt: NaturalsDealt = Counter()
    for rank, *suits in product(Rank, Suit, Suit):
        player = tuple(kinds[rank, suit] for suit in suits)
        player_total, player_pair = total(player), pairing(*player)
        for banker, banker_total, banker_pair in hands:
            if player_total in NATURALS or banker_total in NATURALS:
                times = tuple(sorted(Counter(player + banker).values()))
                dealt[(player_total, banker_total, player_pair, banker_pair), times] += 1
    return dealt


@pytest.mark.parametrize("decks", DECKS)
def test_dealing_every_pair_with_every_other_hand_gives_the_same_count_of_naturals(
    decks: int, naturals_by_repeats: NaturalsDealt
) -> None:
    """Player's hand is a pair, Banker's any two cards, and one of the hands is a natural."""
    dealt: Counter[tuple[int, int, Pairing, Pairing]] = Counter()
    for (result, times), hands in naturals_by_repeats.items():
        dealt[result] += hands * prod(perm(decks, each) for each in times) * perm(52 * decks - 4, 2)
    counted = {
        (coup.player_total, coup.banker_total, coup.player_pair, coup.banker_pair): ways
        for coup, ways in count_coups(decks).items()
        if coup.natural and coup.player_pair is not Pairing.NONE
    }
    assert counted == +dealt


@pytest.mark.parametrize("decks", DECKS)
def test_pairs_are_as_likely_for_one_side_as_for_the_other(decks: int) -> None:
    ways: Counter[tuple[Pairing, Pairing]] = Counter()
    for coup, count in count_coups(decks).items():
        ways[coup.player_pair, coup.banker_pair] += count
    assert all(ways[player, banker] == ways[banker, player] for player, banker in product(Pairing, repeat=2))


def test_one_deck_holds_no_perfect_pair() -> None:
    assert all(Pairing.RANK_AND_SUIT not in (coup.player_pair, coup.banker_pair) for coup in count_coups(1))


def test_nobody_loses_with_a_natural_nine() -> None:
    assert not any(
        coup.natural and coup.player_total == 9 and coup.outcome is Outcome.BANKER for coup in count_coups(8)
    )


@pytest.mark.parametrize("decks", [0, -1])
def test_there_is_no_shoe_of_less_than_one_deck(decks: int) -> None:
    with pytest.raises(BadDecks):
        count_coups(decks)
