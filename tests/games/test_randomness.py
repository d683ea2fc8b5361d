"""Statistical tests of cards and shuffles: p-values are uniform for fair dealing, faults are found.

Fair dealing is simulated with another generator, so that the product's own is not tested by itself.
Every run uses the same numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import exp, factorial, prod, sqrt

import numpy as np
import pytest

from backoffice.fairness import chart
from games.engine.cards import FULL_DECK, Card, Rank, Suit
from games.engine.coup import deal
from games.engine.dealing import coups
from games.engine.shoe import shuffle
from games.fairness.randomness import cards, shuffles, statistics
from games.fairness.randomness.cards import CardCounts, Dealt, Heap
from games.fairness.randomness.statistics import (
    LEVEL,
    Runs,
    chi_square_p,
    count_runs,
    failing_together,
    normal_p,
    of_counts,
    of_runs,
)
from tests.harness.sweeps import sample

Tests = Sequence[statistics.Test]
BOUND = 2.1  # Kolmogorov-Smirnov statistic times the root of the sample size; 30 tests stay below it in 99 of 100 cases


def distance_from_uniform(found: Sequence[float]) -> float:
    """Return the distance of numbers from 0 to 1 from the uniform distribution.

    In units of `BOUND`.
    """
    ordered, steps = np.sort(found), np.arange(len(found) + 1) / len(found)
    return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()) * sqrt(len(found)))


def assert_uniform(make: Callable[[], Tests], samples: int, *, at_least: int) -> None:
    """Check that the p-values of every test are uniform.

    At least *at_least* tests must have been possible.
    """
    found: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(samples):
        for test in make():
            if test.p is not None:
                found[test.name].append(test.p)
    assert len(found) >= at_least
    for name, values in found.items():
        assert len(values) > samples / 2, name
        assert distance_from_uniform(values) < BOUND, name


def deck_of(numbers: np.ndarray) -> list[Card]:
    return [FULL_DECK[number] for number in numbers.tolist()]


def written(dealt: Sequence[Card]) -> str:
    return " ".join(card.code for card in dealt)


def solo_rounds(chance: np.random.Generator, rounds: int) -> Iterator[Dealt]:
    """Yield rounds from one deck each."""
    for number, order in enumerate(chance.random((rounds, 52)).argsort(axis=1)[:, :6]):
        yield Dealt(number, written(deal(deck_of(order)).cards))


def shoe_rounds(chance: np.random.Generator, shoes: int) -> Iterator[Dealt]:
    """Yield rounds from shoes of eight decks, dealt to the end."""
    for number in range(shoes):
        order = chance.permutation(np.tile(np.arange(52), 8))
        yield from (Dealt(number, written(coup.cards)) for coup in coups(deck_of(order)))


def fair_shuffles(chance: np.random.Generator, number: int, decks: int) -> Iterator[list[Card]]:
    for _ in range(number):
        yield deck_of(chance.permutation(np.tile(np.arange(52), decks)))


def p_of(tests: Tests, beginning: str) -> float:
    (found,) = (test for test in tests if test.name.startswith(beginning))
    assert found.p is not None
    return found.p


@pytest.mark.parametrize("statistic", [0.1, 3.0, 9.21, 40.0, 90.0])
@pytest.mark.parametrize("freedom", [2, 10, 612])
def test_chi_square_is_that_of_its_sum_for_even_degrees(statistic, freedom):
    beyond = exp(-statistic / 2) * sum(
        prod((statistic / 2) / step for step in range(1, k + 1)) for k in range(freedom // 2)
    )
    assert chi_square_p(statistic, freedom) == pytest.approx(2 * min(beyond, 1 - beyond), rel=1e-6, abs=1e-12)


def test_chi_square_with_one_degree_is_the_square_of_a_normal_deviate():
    assert chi_square_p(2.5758**2, 1) == pytest.approx(2 * normal_p(2.5758))
    assert normal_p(-2.5758293035489) == pytest.approx(LEVEL)


def test_runs_are_those_of_all_orders():
    rows = [row for row in product((True, False), repeat=7) if sum(row) == 3]
    found = [count_runs(row).runs for row in rows]
    counted = count_runs(rows[0])
    assert counted == Runs(3, 4, 2)
    assert counted.expected == pytest.approx(sum(found) / len(found))
    assert counted.variance == pytest.approx(sum((each - counted.expected) ** 2 for each in found) / len(found))
    assert len(found) == factorial(7) // factorial(3) // factorial(4)


@pytest.mark.sweep
@pytest.mark.parametrize("decks", sample([1, 6, 8], 1))
def test_the_variances_of_what_is_counted_of_a_shuffle_are_those_of_many(decks):
    chance = np.random.default_rng(decks)
    found = [shuffles.count([order], decks=decks) for order in fair_shuffles(chance, 2000, decks)]
    together = shuffles.tests(shuffles.together(decks, found))
    for number in shuffles.NUMBERS:
        seen = np.var([getattr(each, number.name) for each in found], ddof=1)
        assert seen == pytest.approx(number.variance(decks), rel=0.15), number.name
    assert failing_together(together) == ()


def test_among_many_tests_one_fails_together_only_where_it_would_not_among_so_many():
    by_chance = [
        statistics.Test("a", "rounds", 1, 1.0, 1, 0.004),
        *(statistics.Test("b", "rounds", 1, 1.0, 1, 0.5) for _ in range(9)),
    ]
    assert by_chance[0].fails
    assert failing_together(by_chance) == ()
    strong = statistics.Test("c", "rounds", 1, 1.0, 1, 0.0001)
    weaker = statistics.Test("d", "rounds", 1, 1.0, 1, 0.0011)
    assert failing_together([*by_chance[1:], weaker, strong]) == (strong,)
    assert failing_together([*by_chance[1:9], weaker, strong]) == (strong, weaker)
    assert failing_together([statistics.Test("too few", "rounds", 3)]) == ()


def test_too_little_is_not_tested():
    few = cards.count(solo_rounds(np.random.default_rng(1), 20), decks=1, is_own_shoe=True, follows_tableau=True)
    assert {test.p for test in cards.tests(few)} == {None}
    assert {test.p for test in shuffles.tests(shuffles.count([], decks=8))} == {None}
    assert chart((0,) * 52, (0.0,) * 52) is None
    assert chart((1,) * 52, (4.9,) * 52) is None
    assert chart((5,) * 52, (5.0,) * 52) is not None


@pytest.mark.sweep
def test_the_fifth_card_of_a_round_is_as_likely_as_all_rounds_of_one_deck_say():
    left = {points: sum(card.points == points for card in FULL_DECK) for points in range(10)}
    ways: defaultdict[int, int] = defaultdict(int)
    dummy = {card.points: card for card in FULL_DECK}
    for row in product(range(10), repeat=5):
        if len(deal(dummy[points] for points in (*row, 0)).cards) > 4:
            ways[row[4]] += prod(left[points] - row[:place].count(points) for place, points in enumerate(row))
    fifth, sixth = cards.third_card_chances(1)
    for card, chance in zip(FULL_DECK, fifth, strict=True):
        assert chance == pytest.approx(ways[card.points] / left[card.points] / sum(ways.values()))
    assert sum(fifth) == pytest.approx(1)
    assert sum(sixth) == pytest.approx(1)


@pytest.mark.sweep
def test_gli19_3_3_p_values_of_fair_rounds_with_shoes_of_their_own_are_uniform():
    chance = np.random.default_rng(20261122)

    def make() -> Tests:
        rounds = solo_rounds(chance, 900)
        return cards.tests(cards.count(rounds, decks=1, is_own_shoe=True, follows_tableau=True))

    assert_uniform(make, 150, at_least=9)


@pytest.mark.sweep
def test_gli19_3_3_p_values_of_fair_shoes_dealt_through_are_uniform():
    chance = np.random.default_rng(20261123)

    def make() -> Tests:
        return cards.tests(cards.count(shoe_rounds(chance, 11), decks=8, is_own_shoe=False, follows_tableau=True))

    assert_uniform(make, 150, at_least=9)


def test_gli19_3_3_p_values_of_fair_shuffles_are_uniform():
    chance = np.random.default_rng(20261124)
    assert_uniform(lambda: shuffles.tests(shuffles.count(fair_shuffles(chance, 270, 1), decks=1)), 200, at_least=7)
    assert_uniform(lambda: shuffles.tests(shuffles.count(fair_shuffles(chance, 100, 8), decks=8)), 60, at_least=5)


def test_gli19_3_3_the_shuffles_of_the_house_pass_together_at_99_percent():
    seeds = (number.to_bytes(32, "big") for number in range(1000))
    made = shuffles.tests(shuffles.count((shuffle(seed, 1) for seed in seeds), decks=1))
    assert all(test.p is not None for test in made)
    assert failing_together(made) == ()


def test_gli19_3_3_a_card_that_comes_two_percent_too_often_is_found():
    chance = np.random.default_rng(1)
    shares = np.ones(52)
    shares[0] *= 1.02
    rounds = 10_000_000
    fair, faulty = (
        CardCounts(8, True, True, rounds, {"1": Heap(tuple(counts.tolist()), rounds * (416 - 1))})
        for counts in (chance.multinomial(rounds, each / each.sum()) for each in (np.ones(52), shares))
    )
    assert p_of(cards.tests(fair), "Cards dealt first") > LEVEL
    assert p_of(cards.tests(faulty), "Cards dealt first") < LEVEL
    assert failing_together(cards.tests(faulty))


def test_gli19_3_3_a_shuffle_that_never_moves_the_last_card_is_found():
    chance = np.random.default_rng(2)
    last = Card.parse("KS")
    fair = list(fair_shuffles(chance, 300, 8))
    faulty = []
    for order in fair:
        rest = order.copy()
        rest.remove(last)
        faulty.append([*rest, last])
    made = shuffles.tests(shuffles.count(faulty, decks=8))
    assert failing_together(shuffles.tests(shuffles.count(fair, decks=8))) == ()
    assert p_of(made, "The last card") < LEVEL
    assert p_of(made, "Card position by thirteenths") < LEVEL
    assert {test.name for test in failing_together(made)} >= {"The last card of a shuffle"}


def test_gli19_3_3_a_shuffle_that_leaves_neighbours_together_is_found():
    """Every card is equally likely in every place, but the deck was only cut."""
    chance = np.random.default_rng(3)
    made = shuffles.tests(
        shuffles.count((deck_of(np.roll(np.arange(52), cut)) for cut in chance.integers(52, size=300)), decks=1)
    )
    assert p_of(made, "The first card") > LEVEL
    assert p_of(made, "Adjacent cards that were adjacent before") < LEVEL


def test_gli19_3_3_outcomes_that_stick_are_found():
    """One in twenty results repeats the previous one instead of being random."""
    chance = np.random.default_rng(4)
    fair = [deal(deck_of(order)).outcome for order in chance.random((16000, 52)).argsort(axis=1)[:, :6]]
    sticky = fair[:1]
    for outcome, sticks in zip(fair[1:], chance.random(len(fair)) < 0.05, strict=False):
        sticky.append(sticky[-1] if sticks else outcome)
    p_fair, p_sticky = (
        of_runs("", "rounds", [count_runs([each.value == "banker" for each in row if each.value != "tie"])]).p
        for row in (fair, sticky)
    )
    assert p_fair is not None
    assert p_sticky is not None
    assert p_fair > LEVEL > p_sticky


def test_counts_that_are_too_even_are_as_wrong_as_uneven_ones():
    even = of_counts("", "cards", 52_000, observed=[1000] * 52, expected=[1000.0] * 52)
    assert even.fails


def test_what_was_counted_reads_as_it_was_written():
    rounds = list(shoe_rounds(np.random.default_rng(5), 2))
    counted = cards.count(rounds, decks=8, is_own_shoe=False, follows_tableau=True)
    again = CardCounts.parse(counted.rounds, counted.as_json())
    assert again.as_json() == counted.as_json()
    halves = [
        cards.count([each for each in rounds if each.shoe == shoe], decks=8, is_own_shoe=False, follows_tableau=True)
        for shoe in (0, 1)
    ]
    assert cards.together(halves).as_json() == counted.as_json()
    whole = shuffles.count(fair_shuffles(np.random.default_rng(6), 5, 8), decks=8, public=9)
    assert shuffles.ShuffleCounts.parse(8, 5, whole.as_json()) == whole
    assert whole.public == 9


def test_what_is_no_round_keeps_no_other_from_being_counted():
    rounds = [Dealt(1, "AC 2D 3H TS"), Dealt(2, "nonsense"), Dealt(3, "9C KC KD KH")]
    counted = cards.count(rounds, decks=1, is_own_shoe=True, follows_tableau=True)
    assert (counted.rounds, sum(counted.outcomes.values())) == (2, 1)


def test_players_who_decide_about_third_cards_are_held_to_no_chances_of_outcomes():
    counted = cards.count([Dealt(1, "AC 2C 3C 4C")] * 3, decks=6, is_own_shoe=False, follows_tableau=False)
    assert not [test for test in cards.tests(counted) if "utcomes" in test.name or "Banker" in test.name]


def test_the_chart_names_every_card_and_says_how_many_lie_outside():
    counts = [100] * 51 + [160]
    drawn = chart(counts, [sum(counts) / 52] * 52)
    assert drawn is not None
    assert [drawn.bars[0].card, drawn.bars[9].card, drawn.bars[51].card] == ["A♣", "10♣", "K♠"]
    assert drawn.outside == 1
    assert drawn.bars[51].y < 50 <= drawn.bars[0].y + drawn.bars[0].height
    assert len(drawn.bars) == len(Rank) * len(Suit)
