"""Simulation with arrays: the same coups as the engine, and unbiased random numbers."""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import zip_longest

import numpy as np
import pytest

from games import simulation
from games.engine.bets import Variant
from games.engine.cards import FULL_DECK, Card
from games.engine.conditions import CoupClass
from games.engine.coup import Coup, deal
from games.engine.dealing import coups as coups_of_shoe
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.simulation import slips, unit
from games.variants import VARIANTS
from tests.harness.sweeps import examples, sample

SHOES = examples(60, 300)
FRONTS = examples(4_000, 20_000)
CARDS = len(FULL_DECK)
STANDARD_DEVIATIONS = 7  # exceeded by chance once in hundreds of thousands of millions of runs

PLACE = {card: place for place, card in enumerate(FULL_DECK)}


def shuffled(count: int, decks: int) -> list[tuple[Card, ...]]:
    """Return shoes from the product's shuffle, the same in every run."""
    return [shuffle(sha256(b"%d" % number).digest(), decks) for number in range(count)]


def as_array(shoes: list[tuple[Card, ...]]) -> simulation.Bytes:
    return np.array([[PLACE[card] for card in shoe] for shoe in shoes], np.uint8)


def facts(coup: Coup) -> CoupClass:
    return CoupClass(coup.player_total, coup.banker_total, coup.natural, coup.player_pair, coup.banker_pair)


@cache
def payouts_by_arrays(slug: str, number: int) -> dict[str, int]:
    """Return the payouts of every bet for one coup of a class, as the simulation counts them."""
    counts = np.zeros(len(simulation.CLASSES), np.int64)
    counts[number] = 1
    counted = simulation.settle_classes(VARIANTS[slug], counts)
    assert all(payouts.total() == 1 for payouts in counted.values())
    return {bet: next(iter(payouts)) for bet, payouts in counted.items()}


def payouts_by_engine(variant: Variant, coup: Coup) -> dict[str, int]:
    settled = (settle(variant, coup, slip) for slip in slips(variant, unit(variant)))
    return {line.bet: line.payout for settlement in settled for line in settlement.lines}


def assert_same(numbers: simulation.Words, coups: list[Coup]) -> None:
    assert [simulation.CLASSES[number] for number in numbers] == [facts(coup) for coup in coups]
    for number, coup in zip(numbers.tolist(), coups, strict=True):
        for slug, variant in VARIANTS.items():
            assert payouts_by_arrays(slug, number) == payouts_by_engine(variant, coup), coup


@pytest.mark.parametrize("decks", sample([6, 8], 1))
def test_the_same_shoes_give_the_engines_coups_and_payouts_to_the_end_of_the_shoe(decks: int) -> None:
    shoes = shuffled(SHOES, decks)
    step_by_step = zip_longest(*(coups_of_shoe(shoe) for shoe in shoes))
    coups = [coup for step in step_by_step for coup in step if coup]
    assert len(coups) > SHOES * 55
    assert_same(simulation.all_coups(as_array(shoes)), coups)


@pytest.mark.sweep
def test_the_same_fresh_decks_give_the_engines_coups_and_payouts() -> None:
    decks = shuffled(FRONTS, 1)
    assert_same(simulation.first_coups(as_array(decks)), [deal(deck) for deck in decks])


def test_arrays_laid_out_either_way_give_the_same_coups() -> None:
    rows = as_array(shuffled(50, 1))[:, :6]
    columns = np.asfortranarray(rows)
    assert (simulation.first_coups(rows) == simulation.first_coups(columns)).all()


@pytest.mark.parametrize("decks", [1, 8])
def test_fresh_shoes_hold_every_card_as_often_as_their_decks(decks: int) -> None:
    shoes = simulation.fresh_shoes(decks, 64)
    assert 50 < len(shoes) <= 64
    assert (np.sort(shoes, axis=1) == np.repeat(np.arange(CARDS), decks)).all()


def test_fresh_fronts_never_hold_a_card_of_one_deck_twice() -> None:
    fronts = simulation.fresh_fronts(1, 50_000)
    assert (np.diff(np.sort(fronts, axis=1), axis=1) > 0).all()


@pytest.mark.parametrize(
    "dealt",
    [
        pytest.param(lambda: simulation.fresh_fronts(1, 300_000), id="fronts of one deck"),
        pytest.param(lambda: simulation.fresh_fronts(8, 300_000), id="fronts of eight decks"),
        pytest.param(lambda: simulation.fresh_shoes(8, 2_000), id="shoes of eight decks"),
    ],
)
def test_every_card_is_as_likely_at_every_position(dealt: Callable[[], simulation.Bytes]) -> None:
    cards = dealt()
    for position in range(cards.shape[1]):
        counts = np.bincount(cards[:, position], minlength=CARDS)
        expected = len(cards) / CARDS
        chi_squared = float(((counts - expected) ** 2).sum() / expected)
        freedom = CARDS - 1
        assert abs(chi_squared - freedom) < STANDARD_DEVIATIONS * (2 * freedom) ** 0.5
