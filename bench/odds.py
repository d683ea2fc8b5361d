"""Benchmark of exact odds, computed from all coups."""

from itertools import product
from math import prod
from typing import Final

from bench.measuring import Pace, Result, compare, repeat
from games.engine import odds as engine
from games.engine.counting import count_coups
from games.variants import VARIANTS

DECKS: Final = 8
CARDS_BY_POINTS: Final = (16 * DECKS, *[4 * DECKS] * 9)


def odds(pace: Pace) -> list[Result]:
    """Exact odds of ten bets on eight decks, compared with weighing each sequence of six points in
    plain Python.
    """
    return compare(pace, "a second", repeat(_weigh), {"odds": repeat(_compute)})


def _compute() -> None:
    count_coups.cache_clear()
    engine.chances_of.cache_clear()
    engine.exact(VARIANTS["no_commission"], DECKS)


def _weigh() -> None:
    sum(map(prod, product(CARDS_BY_POINTS, repeat=6)))
