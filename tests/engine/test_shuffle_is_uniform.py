"""Statistical tests of many shuffles of one deck: no card prefers a position or a neighbour.

Every statistic is chi-squared, tested two-sided at 99 %: too even is as wrong as too uneven. The
seeds are the SHA-256 of the numbers from 0 on, so every run tests the same shuffles.
"""

from hashlib import sha256
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from games.engine.cards import FULL_DECK
from games.engine.shoe import shuffle

SHUFFLES, SHUFFLES_OF_A_SWEEP = 50_000, 1_000_000  # in `make test`, in `make test-all`
CARDS = len(FULL_DECK)
CONFIDENCE = 0.99

Decks = np.ndarray
"""A row for each shuffle: the index of the card at each position."""


@pytest.fixture(scope="module")
def decks(is_sweep: bool) -> Decks:
    shuffles = SHUFFLES_OF_A_SWEEP if is_sweep else SHUFFLES
    number = {card: place for place, card in enumerate(FULL_DECK)}
    rows = (
        bytes([number[card] for card in shuffle(sha256(b"%d" % count).digest(), decks=1)]) for count in range(shuffles)
    )
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(shuffles, CARDS)


def chi_squared(observed: np.ndarray) -> float:
    """Return the chi-squared statistic of counts with equal expectation."""
    expected = observed.sum() / observed.size
    return float(((observed - expected) ** 2).sum() / expected)


def position_statistic(decks: Decks) -> float:
    """Return chi-squared with 51 * 51 degrees of freedom for the counts of cards by position.

    Rows and columns both sum to the number of shuffles, which makes the plain statistic too large
    by 52/51.
    """
    counts = np.array([np.bincount(decks[:, position], minlength=CARDS) for position in range(CARDS)])
    return chi_squared(counts) * (CARDS - 1) / CARDS


def bounds(freedom: int, confidence: float) -> tuple[float, float]:
    """Return the interval of chi-squared with this confidence (Wilson and Hilferty)."""
    spread = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(2 / (9 * freedom))
    low, high = (freedom * (1 - 2 / (9 * freedom) + sign * spread) ** 3 for sign in (-1, 1))
    return low, high


def test_gli19_3_3_every_card_is_as_likely_at_every_position(decks: Decks) -> None:
    low, high = bounds((CARDS - 1) ** 2, CONFIDENCE)
    assert low < position_statistic(decks) < high


def test_gli19_3_3_every_pair_of_cards_is_as_likely_at_every_two_neighbouring_positions(decks: Decks) -> None:
    pairs = CARDS * (CARDS - 1)
    # The 51 positions together must stay within bounds with 99 %, so each with a 51st of the
    # remaining 1 %.
    low, high = bounds(pairs - 1, 1 - (1 - CONFIDENCE) / (CARDS - 1))
    for position in range(CARDS - 1):
        neighbours = decks[:, position].astype(np.intp) * CARDS + decks[:, position + 1]
        counts = np.bincount(neighbours, minlength=CARDS * CARDS)
        assert counts.reshape(CARDS, CARDS).trace() == 0
        assert low < chi_squared(counts[counts > 0]) < high
        assert np.count_nonzero(counts) == pairs


def test_half_of_all_shuffles_are_even_permutations(decks: Decks) -> None:
    """A generator that cannot reach every order would fail here first."""
    sample = decks[:SHUFFLES]
    inversions = sum((sample[:, [position]] > sample[:, position + 1 :]).sum(axis=1) for position in range(CARDS - 1))
    even = int((inversions % 2 == 0).sum())
    margin = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sqrt(len(sample)) / 2
    assert abs(even - len(sample) / 2) < margin


@pytest.mark.sweep
def test_gli19_3_3_a_biased_shuffle_would_be_found() -> None:
    """The classic mistake: swap each card with any of the 52."""
    chance = np.random.default_rng(seed=0)
    rows = np.arange(SHUFFLES)
    biased = np.tile(np.arange(CARDS), (len(rows), 1))
    for position in range(CARDS):
        other = chance.integers(CARDS, size=len(rows))
        biased[rows, position], biased[rows, other] = biased[rows, other], biased[rows, position].copy()
    _, high = bounds((CARDS - 1) ** 2, CONFIDENCE)
    assert position_statistic(biased) > 2 * high
