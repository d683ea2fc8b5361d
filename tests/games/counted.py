"""Stored counts of cards and shuffles for tests."""

from datetime import datetime

import numpy as np

from games.engine.cards import FULL_DECK
from games.fairness.randomness import shuffles
from games.fairness.randomness.cards import CardCounts, Heap
from games.models import CardHourlyTotal, ShuffleHourlyTotal
from wallet.models import Mode

FAIR = 1 / 52
ROUNDS = 5200


def dealt(*, share: float = FAIR, rounds: int = ROUNDS) -> CardCounts:
    """Return one-deck rounds whose first card is the ace of clubs with this probability.

    The rounds are the same in every run.
    """
    shares = [share, *[(1 - share) / 51] * 51]
    counts = np.random.default_rng(7).multinomial(rounds, shares)
    return CardCounts(1, True, True, rounds, {"1": Heap(tuple(counts.tolist()), rounds * 51)})


def keep(hour: datetime, version_id: int | None, counted: CardCounts, mode: Mode = Mode.REAL) -> None:
    """Store counts for an hour and a table version."""
    assert version_id
    CardHourlyTotal.objects.create(
        hour=hour, version_id=version_id, mode=mode, rounds=counted.rounds, counts=counted.as_json()
    )


def keep_unshuffled(hour: datetime, decks: int, number: int = 120) -> None:
    """Store shuffles of an hour in which no card has moved."""
    counted = shuffles.count([FULL_DECK * decks] * number, decks=decks)
    ShuffleHourlyTotal.objects.create(hour=hour, decks=decks, mode=Mode.REAL, shuffles=number, counts=counted.as_json())
