"""Counts of complete public shuffles, and the tests of these counts (GLI-19 v3.0, 3.2–3.3).

The cards of one shuffle depend on each other: each has one position, and each position holds one
card. So each statistic has a known exact mean and variance over all permutations. Different
shuffles are independent.
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
"""The number of blocks of equal length in a shuffle: four cards for each deck."""

LEAST_SHUFFLES: Final = 100
"""From this number on, the sum of a statistic over shuffles is approximately normal."""

SUITS: Final = 4
RANKS: Final = CARDS // SUITS
RED: Final = (1, 2)  # indexes of suits


@dataclass(frozen=True)
class ShuffleCounts:
    """The counts of shuffles with this number of decks.

    *public* is the number of public shuffles. It is larger than the number counted if counting all
    would take too long.
    """

    decks: int
    public: int = 0
    shuffles: int = 0
    blocks: tuple[int, ...] = (0,) * (CARDS * BLOCKS)  # counts of each card in each block
    first: tuple[int, ...] = (0,) * CARDS
    last: tuple[int, ...] = (0,) * CARDS
    unmoved: int = 0  # positions that hold the same card as in unshuffled decks
    followers: int = 0  # neighbours also in an unshuffled deck, with the first after the last
    rises: int = 0  # cards followed by a card with a later position in an unshuffled deck
    colour_runs: int = 0  # of red and of black cards

    def as_json(self) -> dict[str, Any]:
        """Return the counts as JSON-compatible data."""
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
    def parse(cls, decks: int, shuffles: int, stored: Mapping[str, Any]) -> "ShuffleCounts":
        """Read the data that `as_json` returns."""
        return cls(
            decks,
            public=stored["public"],
            shuffles=shuffles,
            blocks=tuple(stored["blocks"]),
            first=tuple(stored["first"]),
            last=tuple(stored["last"]),
            unmoved=stored["unmoved"],
            followers=stored["followers"],
            rises=stored["rises"],
            colour_runs=stored["colour_runs"],
        )


def together(decks: int, counted: Sequence[ShuffleCounts]) -> ShuffleCounts:
    """Add up the counts of shuffles with this number of decks."""
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
    import numpy as np  # see `count`

    return tuple(np.array(rows, dtype=np.int64).reshape(len(rows), length).sum(axis=0).tolist())


def count_seeds(seeds: Iterable[tuple[bytes, str]], *, decks: int, public: int | None = None) -> ShuffleCounts:
    """Count the shuffles of public seeds, each with the player's text."""
    return count((shuffle(seed, decks, value) for seed, value in seeds), decks=decks, public=public)


def count(shuffles: Iterable[Sequence[Card]], *, decks: int, public: int | None = None) -> ShuffleCounts:
    """Count complete shuffles of this number of decks.

    *public* is the number of public shuffles.
    """
    import numpy as np  # slow to import, and every process imports this module

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
    """Return the tests of the counts, each at 99 %.

    For all together, see `statistics.failing_together`.
    """
    shuffles, cards = counted.shuffles, counted.decks * CARDS
    return [
        of_counts(
            f"Card position by thirteenths of the {'decks' if counted.decks > 1 else 'deck'}",
            "shuffles",
            shuffles,
            observed=counted.blocks,
            expected=[shuffles * counted.decks / BLOCKS] * (CARDS * BLOCKS),
            freedom=(CARDS - 1) * (BLOCKS - 1),
            spread=cards / (cards - 1),
        ),
        _of_position("first", counted.first, shuffles),
        _of_position("last", counted.last, shuffles),
        *(_of_number(number, counted) for number in NUMBERS),
    ]


def _of_position(name: str, counts: Sequence[int], shuffles: int) -> Test:
    expected = [shuffles / CARDS] * CARDS
    return of_counts(f"The {name} card of a shuffle", "shuffles", shuffles, observed=counts, expected=expected)


def _of_number(number: "Number", counted: ShuffleCounts) -> Test:
    shuffles = counted.shuffles
    if shuffles < LEAST_SHUFFLES:
        return too_few(number.label, "shuffles", shuffles)
    return of_sum(
        number.label,
        "shuffles",
        shuffles,
        observed=getattr(counted, number.name),
        expected=shuffles * number.mean(counted.decks),
        variance=shuffles * number.variance(counted.decks),
    )


def _variance_of_unmoved(decks: int) -> float:
    """Return the variance of the number of unmoved positions.

    It is the sum over pairs of cards of the covariances of a table with fixed sums.
    """
    cards, share = decks * CARDS, 1 / CARDS
    of_itself, of_another = (share - share**2) ** 2, share**4
    return cards**2 / (cards - 1) * (CARDS * of_itself + CARDS * (CARDS - 1) * of_another)


def _variance_of_followers(decks: int) -> float:
    """Return the variance of the number of cards followed by the next card of an unshuffled deck,
    with the first after the last.

    It is the mean of the square, over a position with itself, with its neighbour and with all
    others, less the square of the mean.
    """
    cards = decks * CARDS
    adjacent = 2 * decks**2 / (cards - 1)
    apart = decks * (cards * decks - 4 * decks + 1) / (cards - 1)
    return decks + adjacent + apart - decks**2


def _variance_of_rises(decks: int) -> float:
    """Return the variance of the number of cards followed by a card with a later position in an
    unshuffled deck.

    It is computed like `_variance_of_followers`. In separate positions, two different cards rise as
    often as they fall, independently of the other two.
    """
    cards, others = decks * CARDS, decks - 1
    mean = (cards - decks) / 2
    adjacent = 2 * comb(CARDS, 3) * decks**3 / (cards * (cards - 1))
    alike = others / (cards - 1)
    both_alike = (
        others * (others * (cards - decks) + (decks - 2) * (decks - 3)) / ((cards - 1) * (cards - 2) * (cards - 3))
    )
    apart = (cards - 2) * (cards - 3) * (1 - 2 * alike + both_alike) / 4
    return mean + adjacent + apart - mean**2


def _colours(decks: int) -> Runs:
    return Runs(decks * CARDS // 2, decks * CARDS // 2, 0)


@dataclass(frozen=True)
class Number:
    """A statistic of a shuffle: its field of `ShuffleCounts`, its label, and its exact mean and
    variance by number of decks.
    """

    name: str
    label: str
    mean: Callable[[int], float]
    variance: Callable[[int], float]


NUMBERS: Final = (
    Number("unmoved", "Cards in the same position as before", float, _variance_of_unmoved),
    Number("followers", "Adjacent cards that were adjacent before", float, _variance_of_followers),
    Number("rises", "Cards followed by a higher position", lambda decks: decks * (CARDS - 1) / 2, _variance_of_rises),
    Number(
        "colour_runs",
        "Runs of red and black",
        lambda decks: _colours(decks).expected,
        lambda decks: _colours(decks).variance,
    ),
)
