"""How the return of a bet went over time, inside the band that narrows around the exact return: as numbers, which a
template draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final

from games.engine.evidence import BetTest, half_width

FULL: Final = 100.0
SETTLED: Final = 0.2  # of what was staked in the end: what lies before decides no scale, since it goes anywhere
ROOM: Final = 1.15


@dataclass(frozen=True)
class Step:
    """What lay on a bet and came back within an hour, a day …; sums of several add up. Minor units."""

    begins: datetime
    rounds: int
    staked: int
    paid: int
    squares: int

    def __add__(self, later: "Step") -> "Step":
        return Step(
            later.begins,
            self.rounds + later.rounds,
            self.staked + later.staked,
            self.paid + later.paid,
            self.squares + later.squares,
        )


@dataclass(frozen=True)
class Point:
    """Everything up to the end of a step; returns in per cent."""

    begins: datetime
    rounds: int
    actual: float
    low: float
    high: float

    @property
    def is_inside(self) -> bool:
        """Whether the actual return lies in its band."""
        return self.low <= self.actual <= self.high

    @property
    def says(self) -> bool:
        """Whether there were rounds enough for a band that does not reach down to nothing."""
        return self.low > 0


@dataclass(frozen=True)
class Chart:
    """Points from left to right, and how they are drawn in a square of a hundred: *band* is an outline, *actual* a
    line, and the exact return lies at *middle*, so far from the top. What goes beyond *top* or *bottom*, which are in
    per cent like *exact*, is drawn at the edge.
    """

    by: str
    points: Sequence[Point]
    exact: float
    top: float
    bottom: float
    middle: str
    band: str
    actual: str


def chart(test: BetTest, steps: Sequence[Step], *, by: str) -> Chart:
    """Return the chart of a bet's *steps*, of which there is one at least, in the order of time; they are one hour, day
    … each, as *by* says.
    """
    exact = FULL * float(1 + test.mean)
    sums = list(accumulate(steps, Step.__add__))
    points = [_point(test, each, exact) for each in sums]
    settled = [point for point, each in zip(points, sums, strict=True) if each.staked >= SETTLED * sums[-1].staked]
    reach = ROOM * max(max(abs(each.actual - exact), each.high - exact) for each in settled)
    top, bottom = exact + reach, max(exact - reach, 0)
    if len(points) == 1:
        points = [*points, *points]

    def height(share: float) -> str:
        return f"{min(max(FULL * (top - share) / (top - bottom), 0), FULL):.2f}"

    def line(shares: Sequence[float]) -> list[str]:
        return [f"{FULL * at / (len(points) - 1):.2f},{height(share)}" for at, share in enumerate(shares)]

    outline = line([each.high for each in points]) + line([each.low for each in points])[::-1]
    return Chart(
        by=by,
        points=points[: len(sums)],
        exact=exact,
        top=top,
        bottom=bottom,
        middle=height(exact),
        band=" ".join(outline),
        actual=" ".join(line([each.actual for each in points])),
    )


def _point(test: BetTest, sums: Step, exact: float) -> Point:
    width = FULL * half_width(test.variance, staked=sums.staked, squares=sums.squares)
    high = min(exact + width, FULL * test.most)
    return Point(sums.begins, sums.rounds, FULL * sums.paid / sums.staked, max(exact - width, 0), high)
