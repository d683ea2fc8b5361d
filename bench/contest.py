"""Measuring contestants and their yardstick in turn."""

import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import median

Rate = Callable[[float], float]
"""Works for about so many seconds and returns how many units a second it did."""


class Unavailable(Exception):
    """Something cannot be measured on this machine; the message says why in a line."""


@dataclass(frozen=True)
class Pace:
    """How thoroughly to measure."""

    seconds: float
    rounds: int


THOROUGH = Pace(seconds=3.0, rounds=5)
QUICK = Pace(seconds=0.2, rounds=1)


@dataclass(frozen=True)
class Contest:
    """Contestants by name, ready to be measured against one yardstick."""

    yardstick: Rate
    ours: Mapping[str, Rate]


@dataclass(frozen=True)
class Suite:
    """Contests that share a yardstick and what it takes to measure it."""

    about: str
    """What both sides do."""
    unit: str
    aims: Mapping[str, float | None]
    """By the contestants' names: the ratio aimed at, None where there is only interest."""
    open: Callable[[Collection[str]], AbstractContextManager[Contest]]
    """Makes these contestants ready, and clears up after them. Raises Unavailable."""

    def measure(self, names: Collection[str], pace: Pace) -> list["Result"]:
        """Measure the named contestants. Raises Unavailable."""
        return measure(self, names, pace)


@dataclass(frozen=True)
class Result:
    """Medians of one contestant and of its yardstick, in units a second."""

    name: str
    ours: float
    yardstick: float
    unit: str
    aim: float | None

    @property
    def ratio(self) -> float:
        """How many times the yardstick's rate ours is."""
        return self.ours / self.yardstick

    def as_json(self) -> dict[str, object]:
        """As `var/bench.json` holds it."""
        return {
            "name": self.name,
            "ours": round(self.ours, 1),
            "yardstick": round(self.yardstick, 1),
            "ratio": round(self.ratio, 4),
            "unit": self.unit,
            "aim": self.aim,
        }


def measure(suite: Suite, names: Collection[str], pace: Pace) -> list[Result]:
    """Measure the named contestants of a suite. Raises Unavailable."""
    with suite.open(names) as contest:
        for rate in (contest.yardstick, *contest.ours.values()):
            rate(min(pace.seconds, 1.0))  # warms up, and is forgotten
        yardstick: list[float] = []
        ours: dict[str, list[float]] = {name: [] for name in contest.ours}
        for number in range(1, pace.rounds + 1):
            say(f"  {number} of {pace.rounds}: {', '.join(contest.ours)}")
            yardstick.append(contest.yardstick(pace.seconds))
            for name, rate in contest.ours.items():
                ours[name].append(rate(pace.seconds))
    return [
        Result(name, median(rates), median(yardstick), suite.unit, suite.aims[name]) for name, rates in ours.items()
    ]


def say(text: str) -> None:
    """Tell whoever waits."""
    print(text, file=sys.stderr, flush=True)
