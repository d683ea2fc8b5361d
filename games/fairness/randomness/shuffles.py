"""Whole shuffles that are public, counted, and the tests of these counts (GLI-19 v3.0, 3.2–3.3).

Cards of one shuffle hang together: each lies in one place, and each place holds one card. What is asked of a shuffle is
therefore counted so that its exact mean and variance over all orders are known; one shuffle is independent of the next.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Final

from games.engine.cards import Card
from games.engine.shoe import shuffle
from games.fairness.randomness.cards import CARDS, NUMBER
from games.fairness.randomness.statistics import Runs, Test, of_counts, of_sum, too_few

BLOCKS: Final = 13
"""A shuffle is cut into so many pieces of the same length: four cards for each deck."""

LEAST_SHUFFLES: Final = 100
"""From so many on, the sum of one number for each is as good as normal."""

SUITS: Final = 4
RANKS: Final = CARDS // SUITS
RED: Final = (1, 2)  # among the suits


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
    followers: int = 0  # neighbours that are neighbours in an unshuffled deck, the last and the first among them
    rises: int = 0  # cards that are followed by one of a later place in an unshuffled deck
    colour_runs: int = 0  # of red and of black cards

    def as_json(self) -> dict[str, Any]:
        """Write it down."""
        return {
            "public": self.public,
            "blocks": list(self.blocks),
            "first": list(self.first),
            "last": list(self.last),
            "unmoved": self.unmoved,
            "followers": self.followers,
            "rises": self.rises,
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
            followers=kept["followers"],
            rises=kept["rises"],
            colour_runs=kept["colour_runs"],
        )


def together(decks: int, counted: Sequence[ShuffleCounts]) -> ShuffleCounts:
    """Add up what was counted of shuffles of so many decks."""
    return ShuffleCounts(
        decks,
        public=sum(each.public for each in counted),
        shuffles=sum(each.shuffles for each in counted),
        blocks=_sums([each.blocks for each in counted], CARDS * BLOCKS),
        first=_sums([each.first for each in counted], CARDS),
        last=_sums([each.last for each in counted], CARDS),
        unmoved=sum(each.unmoved for each in counted),
        followers=sum(each.followers for each in counted),
        rises=sum(each.rises for each in counted),
        colour_runs=sum(each.colour_runs for each in counted),
    )


def _sums(rows: Sequence[Sequence[int]], length: int) -> tuple[int, ...]:
    import numpy as np  # as in `count`

    return tuple(np.array(rows, dtype=np.int64).reshape(len(rows), length).sum(axis=0).tolist())


def count_seeds(seeds: Iterable[tuple[bytes, str]], *, decks: int, public: int | None = None) -> ShuffleCounts:
    """Count the shuffles that follow from seeds that are public, each with the player's own text."""
    return count((shuffle(seed, decks, value) for seed, value in seeds), decks=decks, public=public)


def count(shuffles: Iterable[Sequence[Card]], *, decks: int, public: int | None = None) -> ShuffleCounts:
    """Count whole shuffles of so many decks, of *public* that there were."""
    import numpy as np  # it takes long to load, and every process of the house loads this module

    rows = [bytes([NUMBER[card.code] for card in cards]) for cards in shuffles]
    if not rows:
        return ShuffleCounts(decks, public=public or 0)
    lying = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), decks * CARDS).astype(np.int64)
    before, after = lying[:, :-1], lying[:, 1:]
    pieces = np.arange(decks * CARDS) // (decks * CARDS // BLOCKS)
    full = np.arange(CARDS)
    red = np.isin(full // RANKS, RED)
    changes = (red[before] != red[after]).sum()

    def counted(numbers: np.ndarray, most: int) -> tuple[int, ...]:
        return tuple(np.bincount(numbers.ravel(), minlength=most).tolist())

    return ShuffleCounts(
        decks,
        public=len(rows) if public is None else public,
        shuffles=len(rows),
        blocks=counted(lying * BLOCKS + pieces, CARDS * BLOCKS),
        first=counted(lying[:, 0], CARDS),
        last=counted(lying[:, -1], CARDS),
        unmoved=int((lying == np.tile(full, decks)).sum()),
        followers=int((after == (before + 1) % CARDS).sum()),
        rises=int((after > before).sum()),
        colour_runs=int(changes) + len(rows),
    )


def tests(counted: ShuffleCounts) -> list[Test]:
    """Test what was counted. Each is at 99 % by itself; for all together, see `statistics.failing_together`."""
    shuffles, cards = counted.shuffles, counted.decks * CARDS
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
        *(_of_number(number, counted) for number in NUMBERS),
    ]


def _of_place(name: str, counts: Sequence[int], shuffles: int) -> Test:
    expected = [shuffles / CARDS] * CARDS
    return of_counts(f"The {name} card of a shuffle", "shuffles", shuffles, observed=counts, expected=expected)


def _of_number(number: "Number", counted: ShuffleCounts) -> Test:
    shuffles = counted.shuffles
    if shuffles < LEAST_SHUFFLES:
        return too_few(number.words, "shuffles", shuffles)
    return of_sum(
        number.words,
        "shuffles",
        shuffles,
        observed=getattr(counted, number.name),
        expected=shuffles * number.mean(counted.decks),
        variance=shuffles * number.variance(counted.decks),
    )


def _variance_of_unmoved(decks: int) -> float:
    """Of the number of places that hold the card they held before: the sum over pairs of cards of the covariances of a
    table with fixed sums.
    """
    cards, share = decks * CARDS, 1 / CARDS
    of_itself, of_another = (share - share**2) ** 2, share**4
    return cards**2 / (cards - 1) * (CARDS * of_itself + CARDS * (CARDS - 1) * of_another)


def _variance_of_followers(decks: int) -> float:
    """Of the number of cards followed by the next of an unshuffled deck, the last by the first: the mean of its square,
    over a place with itself, with the place beside it and with all others, less the square of its mean.
    """
    cards = decks * CARDS
    beside = 2 * decks**2 / (cards - 1)
    apart = decks * (cards * decks - 4 * decks + 1) / (cards - 1)
    return decks + beside + apart - decks**2


def _variance_of_rises(decks: int) -> float:
    """Of the number of cards followed by one of a later place in an unshuffled deck, found in the same way. In places
    apart, each two cards that differ rise as often as they fall, whatever the other two do.
    """
    cards, others = decks * CARDS, decks - 1
    mean = (cards - decks) / 2
    beside = 2 * comb(CARDS, 3) * decks**3 / (cards * (cards - 1))
    alike = others / (cards - 1)
    both_alike = (
        others * (others * (cards - decks) + (decks - 2) * (decks - 3)) / ((cards - 1) * (cards - 2) * (cards - 3))
    )
    apart = (cards - 2) * (cards - 3) * (1 - 2 * alike + both_alike) / 4
    return mean + beside + apart - mean**2


def _colours(decks: int) -> Runs:
    return Runs(decks * CARDS // 2, decks * CARDS // 2, 0)


@dataclass(frozen=True)
class Number:
    """A number that each shuffle has, as `ShuffleCounts` names it and in words, with its exact mean and variance over
    all orders of so many decks.
    """

    name: str
    words: str
    mean: Callable[[int], float]
    variance: Callable[[int], float]


NUMBERS: Final = (
    Number("unmoved", "Cards that lie where they lay before", float, _variance_of_unmoved),
    Number("followers", "Neighbours that were neighbours before", float, _variance_of_followers),
    Number("rises", "Cards followed by a later one", lambda decks: decks * (CARDS - 1) / 2, _variance_of_rises),
    Number(
        "colour_runs",
        "Runs of red and black",
        lambda decks: _colours(decks).expected,
        lambda decks: _colours(decks).variance,
    ),
)
