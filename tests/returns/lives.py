"""Lives of games, as counts of how bets ended: drawn from exact chances, or dealt from shuffled shoes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from games.engine.bets import Variant
from games.engine.conditions import Facts
from games.engine.counting import count_coups
from games.engine.evidence import LIMIT, bet_test, name_of
from games.simulation import CLASSES

Counts = NDArray[np.int64]


def endings(variant: Variant, coup: Facts) -> tuple[str, ...]:
    """Return the result of each bet of the game on such a coup."""
    return tuple(name_of(bet.pays(coup)) for bet in variant.bets)


def ways(variant: Variant) -> dict[tuple[str, ...], Fraction]:
    """Return the probability of each combination of results, since the bets of one coup depend on each other."""
    found: Counter[tuple[str, ...]] = Counter()
    for coup, count in count_coups(variant.decks).items():
        found[endings(variant, coup)] += count
    return {together: Fraction(count, found.total()) for together, count in found.items()}


def log_evidence(variant: Variant, every: list[tuple[str, ...]], counts: Counts) -> NDArray[np.float64]:
    """Return the evidence against the game, of as many lives and looks as *counts* has leading axes; the last axis is
    how often bets ended in each of the *every* ways. The product's factors, multiplied by arrays.
    """
    bets = []
    for place, bet in enumerate(variant.bets):
        test = bet_test(variant, bet.code)
        factors = [test.logarithms(wager) for wager in test.wagers]
        logs = np.array([[each[together[place]] for each in factors] for together in every])
        bets.append(_mean(counts @ logs))
    return _mean(np.stack(bets, axis=-1))


def alarms(evidence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each life whether any look at it raises the alarm; looks are the last axis."""
    found: NDArray[np.bool_] = (evidence >= np.log(LIMIT)).any(axis=-1)
    return found


def by_bet(variant: Variant, every: list[tuple[str, ...]], counts: Counts) -> Mapping[str, Mapping[str, int]]:
    """Return the counts of one look at one life, as the product is given them."""
    found: dict[str, Counter[str]] = {bet.code: Counter() for bet in variant.bets}
    for together, count in zip(every, counts.tolist(), strict=True):
        for bet, ending in zip(variant.bets, together, strict=True):
            found[bet.code][ending] += count
    return found


def numbered(variant: Variant) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    """Return the ways in which bets end together, and which of them each class of coups of the array simulation is."""
    every = list(ways(variant))
    number = {together: at for at, together in enumerate(every)}
    return every, np.array([number.get(endings(variant, coup), -1) for coup in CLASSES])


def _mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    top = logs.max(axis=-1, keepdims=True)
    mean: NDArray[np.float64] = top[..., 0] + np.log(np.exp(logs - top).mean(axis=-1))
    return mean


def seeds(text: str, count: int) -> Iterator[bytes]:
    """Seeds for real shuffles, the same in every run."""
    return (sha256(f"{text} {number}".encode()).digest() for number in range(count))
