"""Measures rates in turn and compares medians, so that a slow machine or a busy minute affects both sides alike."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final

Rate = Callable[[float], float]
"""Works for about so many seconds and returns how many units a second it did."""


class Unavailable(Exception):
    """Something cannot be measured on this machine; the message says why in a line."""


@dataclass(frozen=True)
class Pace:
    """How thoroughly to measure: seconds of each measurement, how many there are, and the share of the full data."""

    seconds: float
    rounds: int
    share: float = 1

    def size(self, full: int, least: int = 1) -> int:
        """Return how many rows to work on where a thorough run has *full*."""
        return max(int(full * self.share), least)


THOROUGH: Final = Pace(seconds=3.0, rounds=5)
QUICK: Final = Pace(seconds=0.2, rounds=1, share=0.002)


@dataclass(frozen=True)
class Result:
    """Medians of a bench and of its yardstick, and the ratio aimed at, None where there is no aim."""

    name: str
    ours: float
    yardstick: float
    unit: str
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """How many times the yardstick's figure ours is."""
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
    """Return the rate of an action that counts as so many units; it is done once at least."""

    def rate(seconds: float) -> float:
        done, begun = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < seconds or not done:
            do()
            done += 1
        return units * done / elapsed

    return rate


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)
