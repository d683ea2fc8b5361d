"""Template tags for charts: ``{% load charts %}{% bar_chart "Rounds a day" figures %}``.

The other tags are ``line_chart``, ``share_chart``, ``pie_chart``, ``series_chart`` and ``sparkline``.
*figures* are tuples (label, value, text), with a tone and a mark if the chart uses them, so that
lower apps need not import charts. Every figure is also shown as text.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, cos, floor, log10, pi, sin
from typing import Any, Final

from django import template

from games.tables.fragments import render_fragment

FULL = 100.0
NOTHING = "0"
ROOM = 7.0  # per cent of a pie that a mark needs
OUT = 0.62  # distance of marks from the centre, as a part of the radius


class NegativeShare(ValueError):
    """A part of a whole is negative."""


@dataclass(frozen=True)
class Figure:
    """One value of a chart.

    ``text`` is the formatted value. ``tone`` picks a colour (``player``, ``tie``, ``2`` …).
    ``sign`` is the letter or number drawn on a slice of a pie, and ``note`` is small text next to
    it.
    """

    label: str
    value: float
    text: str
    tone: str = ""
    sign: str = ""
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """A figure as a bar that begins at ``start`` and is ``length`` long."""

    figure: Figure
    start: float
    length: float


@dataclass(frozen=True)
class Slice:
    """A figure as a slice of a pie that is 100 wide: its outline and the position of its mark."""

    figure: Figure
    outline: str
    x: float
    y: float
    has_room: bool  # whether the mark fits


@dataclass(frozen=True)
class Curve:
    """Figures as a line of SVG points, with the area down to zero.

    ``zero`` is measured from the top.
    """

    figures: tuple[Figure, ...]
    line: str
    area: str
    zero: float
    top: str  # label of the upper edge; ``bottom`` is that of the lower edge
    bottom: str


def bars(figures: Sequence[Figure]) -> list[Bar]:
    """Return each figure as a bar from zero to its value, on one scale.

    Bars of negative values extend to the left of zero.
    """
    low, high = _ends(figures)
    reach = (high - low) or 1.0
    return [Bar(each, _round((min(each.value, 0) - low) / reach), _round(abs(each.value) / reach)) for each in figures]


def shares(figures: Sequence[Figure]) -> list[Bar]:
    """Return each figure as its share of the sum, one after the other. Empty where the sum is zero.

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


def slices(figures: Sequence[Figure]) -> list[Slice]:
    """Return the figures above zero as slices of a pie, clockwise from the top.

    Raises NegativeShare.
    """
    return [_slice(each) for each in shares(figures) if each.length]


def _slice(share: Bar) -> Slice:
    """Return a slice. The mark of a slice that fills the whole pie is in the centre."""
    if share.length == FULL:
        middle = FULL / 2
        return Slice(share.figure, f"M{middle} 0a{middle} {middle} 0 1 1 -.01 0z", middle, middle, has_room=True)
    (left, top), (right, bottom) = _on_pie(share.start), _on_pie(share.start + share.length)
    x, y = _on_pie(share.start + share.length / 2, OUT)
    arc = f"A{FULL / 2} {FULL / 2} 0 {int(share.length > FULL / 2)} 1 {right} {bottom}"
    outline = f"M{FULL / 2} {FULL / 2}L{left} {top}{arc}z"
    return Slice(share.figure, outline, x, y, has_room=share.length >= ROOM)


def _on_pie(part: float, out: float = 1) -> tuple[float, float]:
    """Return the point at *part* per cent around the pie, at distance *out* from the centre."""
    angle = part / FULL * 2 * pi
    return round(FULL / 2 * (1 + out * sin(angle)), 1), round(FULL / 2 * (1 - out * cos(angle)), 1)


def curve(figures: Sequence[Figure]) -> Curve | None:
    """Return the figures at equal distances from left to right; None if there are fewer than two."""
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


@dataclass(frozen=True)
class Point:
    """One step of a series: its label, its value, and the value of the same step of the period before.

    A value is None where the series has no such step. The texts are the formatted values.
    """

    label: str
    value: float | None
    text: str
    before: float | None = None
    text_before: str = ""


@dataclass(frozen=True)
class Hit:
    """The part of a plot that belongs to a point: where it begins, its width, and its middle, in per cent."""

    point: Point
    start: float
    width: float
    middle: float


@dataclass(frozen=True)
class Tick:
    """A label on an axis at *at* per cent. *anchor* is the SVG text anchor."""

    text: str
    at: float
    anchor: str = "middle"


@dataclass(frozen=True)
class Series:
    """A series over time with axes. Lines are SVG points in a box of 100 by 100."""

    title: str
    now: str  # name of the series
    then: str  # name of the series of the period before, "" if there is none
    hits: Sequence[Hit]
    line: str
    area: str
    line_before: str
    zero: float
    values: Sequence[Tick]  # from top to bottom, at equal distances
    times: Sequence[Tick]


MOST_TIMES: Final = 6  # labels on the axis of time, such as 12:00
MOST_DATES: Final = 3  # labels that are longer, such as 2026-11-28: as many as a phone has room for
LENGTH_OF_TIME: Final = 5  # characters
STEPS: Final = 4  # between values on the axis, about


def series(title: str, points: Sequence[Point], text_of: Callable[[float], str], now: str, then: str = "") -> Series:
    """Return the chart of *points*. *text_of* formats the values on the axis."""
    values = [value for point in points for value in (point.value, point.before) if value is not None]
    ticks = _nice_ticks(min(0, 0, *values), max(0, 0, *values))
    low, high = ticks[0], ticks[-1]
    step = FULL / max(len(points) - 1, 1)
    positions = [(round(number * step, 2), point) for number, point in enumerate(points)]

    def line(value_of: Callable[[Point], float | None]) -> list[str]:
        known = [(at, value) for at, point in positions if (value := value_of(point)) is not None]
        return [f"{at},{_round((high - value) / (high - low))}" for at, value in known]

    drawn, zero = line(lambda point: point.value), _round(high / (high - low))
    ends = [f"{drawn[0].partition(',')[0]},{zero}", f"{drawn[-1].partition(',')[0]},{zero}"] if drawn else []
    return Series(
        title=title,
        now=now,
        then=then,
        hits=[_hit(at, step, point) for at, point in positions],
        line=" ".join(drawn),
        area=" ".join([ends[0], *drawn, ends[1]]) if ends else "",
        line_before=" ".join(line(lambda point: point.before)),
        zero=zero,
        values=[
            Tick(text_of(tick) if tick == 0 or any(values) else "", _round((high - tick) / (high - low)))
            for tick in reversed(ticks)
        ],
        times=_times(positions),
    )


def _hit(at: float, step: float, point: Point) -> Hit:
    start, end = max(at - step / 2, 0), min(at + step / 2, FULL)
    return Hit(point, round(start, 2), round(end - start, 2), at)


def _times(positions: Sequence[tuple[float, Point]]) -> list[Tick]:
    """Return labels of some points at equal distances. Those at the ends begin or end there."""
    longest = max((len(point.label) for _, point in positions), default=0)
    apart = -(-len(positions) // (MOST_TIMES if longest <= LENGTH_OF_TIME else MOST_DATES))
    anchors = {0.0: "start", FULL: "end"}
    return [Tick(point.label, at, anchors.get(at, "middle")) for at, point in positions[::apart] if len(positions) > 1]


def _nice_ticks(low: float, high: float) -> list[float]:
    """Return round values at equal distances that reach from *low* or less to *high* or more."""
    rough = ((high - low) or 1.0) / STEPS
    power = 10 ** floor(log10(rough))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if each * power >= rough * 0.999)
    first, last = floor(low / step), ceil(high / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _ends(figures: Sequence[Figure]) -> tuple[float, float]:
    """Return the least and the greatest value.

    Zero is always included, so that lengths do not mislead.
    """
    values = [each.value for each in figures]
    return min(0, 0, *values), max(0, 0, *values)


def _round(part: float) -> float:
    return round(part * FULL, 2)


register = template.Library()
Given = Iterable[Sequence[Any]]


@register.inclusion_tag("staff/charts.html#bars")
def bar_chart(title: str, figures: Given) -> dict[str, object]:
    """Render a bar chart, which compares values."""
    return {"title": title, "bars": bars(_read(figures))}


@register.inclusion_tag("staff/charts.html#line")
def line_chart(title: str, figures: Given) -> dict[str, object]:
    """Render a line chart, which shows values over time from left to right."""
    read = _read(figures)
    return {"title": title, "curve": curve(read), "figures": read}


@register.inclusion_tag("staff/charts.html#shares")
def share_chart(title: str, figures: Given) -> dict[str, object]:
    """Render the shares of a whole as one bar."""
    return {"title": title, "shares": shares(_read(figures))}


@register.inclusion_tag("staff/charts.html#series")
def series_chart(chart: Series) -> dict[str, object]:
    """Render a series with axes, over that of the period before."""
    return {"chart": chart}


@register.inclusion_tag("staff/charts.html#sparkline")
def sparkline(values: Sequence[float]) -> dict[str, object]:
    """Render values as a small line without axes. The figures must also be given as text."""
    return {"curve": curve([Figure("", value, "") for value in values])}


@register.simple_tag
def pie_chart(title: str, figures: Given) -> str:
    """Render the shares of a whole as a pie, with all figures next to it."""
    read = _read(figures)
    return render_fragment("charts.html#pie", title=title, slices=slices(read), figures=read)


def _read(figures: Given) -> list[Figure]:
    return [Figure(*each) for each in figures]
