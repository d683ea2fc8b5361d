"""How often each card came, as bars up and down from what is expected of it. Lengths are per cent of the chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final

from games.engine.cards import FULL_DECK
from games.fairness.randomness.statistics import LEAST_EXPECTED, LEVEL

MIDDLE: Final = 50.0
WIDTH: Final = 100 / len(FULL_DECK)
BAR: Final = 0.7  # of the room that a card has
WIDEST: Final = NormalDist().inv_cdf(1 - LEVEL / 2)
"""So many standard deviations from the mean lies one card in a hundred, by chance."""


@dataclass(frozen=True)
class Bar:
    """One card: how often it came, what is expected, how many standard deviations lie between; and its bar."""

    card: str
    count: int
    expected: float
    away: float
    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Chart:
    """All cards. Between *low* and *high* lie 99 of 100 by chance; *reach* standard deviations are the chart's half."""

    bars: Sequence[Bar]
    low: float
    high: float
    reach: float
    width: float = WIDTH * BAR

    @property
    def outside(self) -> int:
        """How many cards lie farther out than 99 of 100 do."""
        return sum(abs(bar.away) > WIDEST for bar in self.bars)

    @property
    def band(self) -> float:
        """How high the band is in the chart."""
        return self.low - self.high


def chart(counts: Sequence[int], expected: Sequence[float], spread: float = 1.0) -> Chart | None:
    """Draw counts of the 52 cards; None where there are too few to test, too. *spread* as in `statistics.of_counts`."""
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
