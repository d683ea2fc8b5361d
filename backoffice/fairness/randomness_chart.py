"""Chart of how often each card came, as deviations from the expected count.

Lengths are per cent of the chart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final

from games.engine.cards import FULL_DECK
from games.fairness.randomness.statistics import LEAST_EXPECTED, LEVEL

MIDDLE: Final = 50.0
WIDTH: Final = 100 / len(FULL_DECK)
BAR: Final = 0.7  # part of a card's width
WIDEST: Final = NormalDist().inv_cdf(1 - LEVEL / 2)
"""Standard deviations from the mean that one card in a hundred exceeds by chance."""


@dataclass(frozen=True)
class Bar:
    """One card: its count, the expected count, the deviation in standard deviations, and its bar."""

    card: str
    count: int
    expected: float
    away: float
    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Chart:
    """Chart of all cards.

    By chance, 99 of 100 cards are between *low* and *high*. Half the chart's height is *reach*
    standard deviations.
    """

    bars: Sequence[Bar]
    low: float
    high: float
    reach: float
    width: float = WIDTH * BAR

    @property
    def outside(self) -> int:
        """Number of cards outside the 99 per cent band."""
        return sum(abs(bar.away) > WIDEST for bar in self.bars)

    @property
    def band(self) -> float:
        """Height of the band in the chart."""
        return self.low - self.high


def chart(counts: Sequence[int], expected: Sequence[float], spread: float = 1.0) -> Chart | None:
    """Return a chart of the counts of the 52 cards, or None if there are too few to test.

    *spread* is that of `statistics.of_counts`.
    """
    whole = sum(expected)
    if min(expected) < LEAST_EXPECTED or spread <= 0:
        return None
    away = [
        (count - mean) / sqrt(mean * (1 - mean / whole) * spread) for count, mean in zip(counts, expected, strict=True)
    ]
    reach = max(WIDEST, *(abs(each) for each in away)) * 1.1
    scale = MIDDLE / reach
    bars = [
        Bar(
            f"{card.code[0].replace('T', '10')}{card.suit.value[1]}",
            counts[number],
            expected[number],
            away[number],
            x=round((number + (1 - BAR) / 2) * WIDTH, 2),
            y=round(MIDDLE - max(away[number], 0) * scale, 2),
            height=round(abs(away[number]) * scale, 2),
        )
        for number, card in enumerate(FULL_DECK)
    ]
    return Chart(bars, round(MIDDLE + WIDEST * scale, 2), round(MIDDLE - WIDEST * scale, 2), reach)
