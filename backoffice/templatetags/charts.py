"""Template tags for charts: ``{% load charts %}{% bar_chart "Rounds a day" figures %}``.

The other tags are ``line_chart``, ``share_chart`` and ``pie_chart``. *figures* are tuples (label,
value, text), with a tone and a mark if the chart uses them, so that lower apps need not import
charts. Every figure is also shown as text.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django import template

from backoffice.charts import Figure, bars, curve, shares, slices
from games.tables.fragments import render_fragment

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


@register.simple_tag
def pie_chart(title: str, figures: Given) -> str:
    """Render the shares of a whole as a pie, with all figures next to it."""
    read = _read(figures)
    return render_fragment("charts.html#pie", title=title, slices=slices(read), figures=read)


def _read(figures: Given) -> list[Figure]:
    return [Figure(*each) for each in figures]
