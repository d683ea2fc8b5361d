"""Whole shuffles that are public, counted, and the tests of these counts (GLI-19 v3.0, 3.2–3.3).

Cards of one shuffle hang together: each lies in one place, and each place holds one card. What is asked of a shuffle is
therefore either counted so that its exact variance over all orders is known, or is one number for each shuffle, whose
spread the shuffles themselves show: one shuffle is independent of the next.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from games.engine.cards import Card
from games.randomness.cards import CARDS, NUMBER
from games.randomness.statistics import Runs, Test, of_counts, of_sum, too_few

BLOCKS: Final = 13
"""A shuffle is cut into so many pieces of the same length: four cards for each deck."""

LEAST_SHUFFLES: Final = 100
"""From so many on, a mean is as good as normal with the variance that the sample shows."""

SUITS: Final = 4
RANKS: Final = CARDS // SUITS
FULL: Final = np.arange(CARDS)
RED: Final = (FULL // RANKS == 1) | (FULL // RANKS == 2)


@dataclass(frozen=True)
class Each:
    """The sum of one number for each shuffle, and of its square."""

    sum: int = 0
    squares: int = 0

    def __add__(self, other: Self) -> "Each":
        return Each(self.sum + other.sum, self.squares + other.squares)


@dataclass(frozen=True)
class ShuffleCounts:
    """What is counted of shuffles of so many decks. *public* is how many there were: more than were looked at, where
    dealing all of them again takes too long.
    """

    decks: int
    public: int = 0
    shuffles: int = 0
    blocks: tuple[int, ...] = (0,) * (CARDS * BLOCKS)  # how often each card lay in each piece, by card
    first: tuple[int, ...] = (0,) * CARDS
    last: tuple[int, ...] = (0,) * CARDS
    unmoved: int = 0  # places that hold the card of the unshuffled decks
    followers: Each = Each()  # neighbours that are neighbours in an unshuffled deck, the last and the first among them
    rises: Each = Each()  # cards that are followed by one of a later place in an unshuffled deck
    colour_runs: int = 0  # of red and of black cards

    def __add__(self, other: Self) -> "ShuffleCounts":
        """Add what was counted of other shuffles of as many decks."""
        return ShuffleCounts(
            self.decks,
            public=self.public + other.public,
            shuffles=self.shuffles + other.shuffles,
            blocks=_both(self.blocks, other.blocks),
            first=_both(self.first, other.first),
            last=_both(self.last, other.last),
            unmoved=self.unmoved + other.unmoved,
            followers=self.followers + other.followers,
            rises=self.rises + other.rises,
            colour_runs=self.colour_runs + other.colour_runs,
        )

    def as_json(self) -> dict[str, Any]:
        """Write it down."""
        return {
            "public": self.public,
            "blocks": self.blocks,
            "first": self.first,
            "last": self.last,
            "unmoved": self.unmoved,
            "followers": [self.followers.sum, self.followers.squares],
            "rises": [self.rises.sum, self.rises.squares],
            "colour_runs": self.colour_runs,
        }

    @classmethod
    def parse(cls, decks: int, shuffles: int, kept: Mapping[str, Any]) -> "ShuffleCounts":
        """Read what `as_json` wrote."""
        return cls(
            decks,
            public=kept["public"],
            shuffles=shuffles,
            blocks=tuple(kept["blocks"]),
            first=tuple(kept["first"]),
            last=tuple(kept["last"]),
            unmoved=kept["unmoved"],
            followers=Each(*kept["followers"]),
            rises=Each(*kept["rises"]),
            colour_runs=kept["colour_runs"],
        )


def _both(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    return tuple(first + second for first, second in zip(one, other, strict=True))


def count(shuffles: Iterable[Sequence[Card]], *, decks: int, public: int | None = None) -> ShuffleCounts:
    """Count whole shuffles of so many decks, of *public* that there were."""
    rows = [bytes([NUMBER[card.code] for card in cards]) for cards in shuffles]
    if not rows:
        return ShuffleCounts(decks, public=public or 0)
    lying = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), decks * CARDS).astype(np.int64)
    before, after = lying[:, :-1], lying[:, 1:]
    pieces = np.arange(decks * CARDS) // (decks * CARDS // BLOCKS)
    changes = (RED[before] != RED[after]).sum()
    return ShuffleCounts(
        decks,
        public=len(rows) if public is None else public,
        shuffles=len(rows),
        blocks=_counted(lying * BLOCKS + pieces, CARDS * BLOCKS),
        first=_counted(lying[:, 0], CARDS),
        last=_counted(lying[:, -1], CARDS),
        unmoved=int((lying == np.tile(FULL, decks)).sum()),
        followers=_each((after == (before + 1) % CARDS).sum(axis=1)),
        rises=_each((after > before).sum(axis=1)),
        colour_runs=int(changes) + len(rows),
    )


def _counted(numbers: np.ndarray, most: int) -> tuple[int, ...]:
    return tuple(np.bincount(numbers.ravel(), minlength=most).tolist())


def _each(numbers: np.ndarray) -> Each:
    return Each(int(numbers.sum()), int((numbers**2).sum()))


def tests(counted: ShuffleCounts) -> list[Test]:
    """Test what was counted. Each is at 99 % by itself; for all together, see `statistics.failing_together`."""
    shuffles, cards = counted.shuffles, counted.decks * CARDS
    half = cards // 2
    colours = Runs(half, half, 0)
    return [
        of_counts(
            f"Which card lies in which thirteenth of the {'decks' if counted.decks > 1 else 'deck'}",
            "shuffles",
            shuffles,
            observed=counted.blocks,
            expected=[shuffles * counted.decks / BLOCKS] * (CARDS * BLOCKS),
            freedom=(CARDS - 1) * (BLOCKS - 1),
            spread=cards / (cards - 1),
        ),
        _of_place("first", counted.first, shuffles),
        _of_place("last", counted.last, shuffles),
        _of_sum(
            "Cards that lie where they lay before",
            counted.unmoved,
            shuffles,
            mean=counted.decks,
            variance=_variance_of_unmoved(cards),
        ),
        _of_each("Neighbours that were neighbours before", counted.followers, shuffles, counted.decks),
        _of_each("Cards followed by a later one", counted.rises, shuffles, (cards - counted.decks) / 2),
        _of_sum(
            "Runs of red and black", counted.colour_runs, shuffles, mean=colours.expected, variance=colours.variance
        ),
    ]


def _of_place(name: str, counts: Sequence[int], shuffles: int) -> Test:
    expected = [shuffles / CARDS] * CARDS
    return of_counts(f"The {name} card of a shuffle", "shuffles", shuffles, observed=counts, expected=expected)


def _of_each(name: str, each: Each, shuffles: int, mean: float) -> Test:
    """Hold one number for each shuffle to its exact mean, by the variance that the sample shows."""
    variance = (each.squares - each.sum**2 / shuffles) / (shuffles - 1) if shuffles > 1 else 0.0
    return _of_sum(name, each.sum, shuffles, mean=mean, variance=variance)


def _of_sum(name: str, observed: int, shuffles: int, *, mean: float, variance: float) -> Test:
    """Hold a sum over shuffles to its mean and variance for each."""
    if shuffles < LEAST_SHUFFLES:
        return too_few(name, "shuffles", shuffles)
    expected, spread = shuffles * mean, shuffles * variance
    return of_sum(name, "shuffles", shuffles, observed=observed, expected=expected, variance=spread)


def _variance_of_unmoved(cards: int) -> float:
    """Of the number of places that hold the card they held before, of a shuffle of whole decks: the sum over pairs of
    cards of the covariances of a table with fixed sums.
    """
    share = 1 / CARDS
    of_itself, of_another = (share - share**2) ** 2, share**4
    return cards**2 / (cards - 1) * (CARDS * of_itself + CARDS * (CARDS - 1) * of_another)
