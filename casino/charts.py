"""Where the bars, curves and shares of a chart lie, as plain numbers: templates draw them, style sheets colour them.

Lengths are per cent of the chart's own width and height, so a chart is as wide as the place it stands in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

FULL = 100.0
NOTHING = "0"


class NegativeShare(ValueError):
    """Parts of a whole cannot be less than nothing."""


@dataclass(frozen=True)
class Figure:
    """One value of a chart: ``text`` is how it is written, ``tone`` picks a colour (``player``, ``tie``, ``2`` …)."""

    label: str
    value: float
    text: str
    tone: str = ""


@dataclass(frozen=True)
class Bar:
    """A figure as a stretch from ``start``, ``length`` long."""

    figure: Figure
    start: float
    length: float


@dataclass(frozen=True)
class Curve:
    """Figures in a row as points of SVG, with the area down to nothing; ``zero`` lies so far from the top."""

    figures: tuple[Figure, ...]
    line: str
    area: str
    zero: float
    top: str  # what the upper and the lower edge stand for
    bottom: str


def bars(figures: Sequence[Figure]) -> list[Bar]:
    """Return each figure from nothing to its value, on one scale; what is negative begins left of nothing."""
    low, high = _ends(figures)
    reach = (high - low) or 1.0
    return [Bar(each, _round((min(each.value, 0) - low) / reach), _round(abs(each.value) / reach)) for each in figures]


def shares(figures: Sequence[Figure]) -> list[Bar]:
    """Return each figure as its part of the sum, one after the other; nothing at all where the sum is nothing.

    Raises NegativeShare.
    """
    if any(each.value < 0 for each in figures):
        raise NegativeShare
    whole = sum(each.value for each in figures)
    found, start = [], 0.0
    for each in figures if whole else ():
        part = each.value / whole
        found.append(Bar(each, _round(start), _round(part)))
        start += part
    return found


def curve(figures: Sequence[Figure]) -> Curve | None:
    """Return the figures from left to right at equal distances, or None where there are fewer than two."""
    if len(figures) < 2:
        return None
    low, high = _ends(figures)
    reach = (high - low) or 1.0
    step = 1 / (len(figures) - 1)
    points = [f"{_round(place * step)},{_round((high - each.value) / reach)}" for place, each in enumerate(figures)]
    zero = _round(high / reach)
    return Curve(
        figures=tuple(figures),
        line=" ".join(points),
        area=" ".join([f"0,{zero}", *points, f"{FULL},{zero}"]),
        zero=zero,
        top=next((each.text for each in figures if each.value == high), NOTHING),
        bottom=next((each.text for each in figures if each.value == low), NOTHING),
    )


def _ends(figures: Sequence[Figure]) -> tuple[float, float]:
    """Return the least and the greatest value; nothing is always in sight, so that lengths do not mislead."""
    values = [each.value for each in figures]
    return min(0, 0, *values), max(0, 0, *values)


def _round(part: float) -> float:
    return round(part * FULL, 2)
