"""Measurement of rates.

The sides are measured in turn and medians compared, so a slow machine affects both alike.
"""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final

Rate = Callable[[float], float]
"""A function that works for about this number of seconds and returns units per second."""


class Unavailable(Exception):
    """Something cannot be measured on this machine; the message gives the reason in one line."""


@dataclass(frozen=True)
class Pace:
    """The thoroughness of a run: seconds and number of measurements, and the share of the full
    data.
    """

    seconds: float
    rounds: int
    share: float = 1

    def size(self, full: int, least: int = 1) -> int:
        """Return the number of rows for a run, if a thorough run has *full*."""
        return max(int(full * self.share), least)


THOROUGH: Final = Pace(seconds=3.0, rounds=5)
QUICK: Final = Pace(seconds=0.2, rounds=1, share=0.002)


@dataclass(frozen=True)
class Result:
    """Medians of a benchmark and of its yardstick, and the target ratio, or None without a
    target.
    """

    name: str
    ours: float
    yardstick: float
    unit: str
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """Our figure divided by the yardstick's."""
        return self.ours / self.yardstick


def compare(
    pace: Pace, unit: str, yardstick: Rate, ours: Mapping[str, Rate], *, aim: float | None = None
) -> list[Result]:
    """Measure the yardstick and ours in turn, after a warm-up that does not count."""
    took: dict[str, list[float]] = {"": [], **{name: [] for name in ours}}
    for number in range(pace.rounds + 1):
        for name, rate in {"": yardstick, **ours}.items():
            measured = rate(pace.seconds if number else min(pace.seconds, 1.0))
            if number:
                took[name].append(measured)
    reference = median(took.pop(""))
    return [Result(name, median(rates), reference, unit, aim) for name, rates in took.items()]


def repeat(do: Callable[[], object], units: int = 1) -> Rate:
    """Return the rate of an action that counts as *units*. The action runs at least once."""

    def rate(seconds: float) -> float:
        done, begun = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < seconds or not done:
            do()
            done += 1
        return units * done / elapsed

    return rate


def say(text: str) -> None:
    """Print progress to standard error."""
    print(text, file=sys.stderr, flush=True)
