"""Charts in templates: ``{% load charts %}{% bar_chart "Rounds a day" figures %}``; so ``line_chart``, ``share_chart``,
``pie_chart``.

*figures* are tuples (label, value, text), with a tone and a mark where the chart has them, so that no floor below needs
to know of charts.
Every figure stands in text beside its drawing.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django import template

from backoffice.charts import Figure, bars, curve, shares, slices

register = template.Library()
Given = Iterable[Sequence[Any]]


@register.inclusion_tag("staff/charts/_bars.html")
def bar_chart(title: str, figures: Given) -> dict[str, object]:
    """Compare values with each other."""
    return {"title": title, "bars": bars(_read(figures))}


@register.inclusion_tag("staff/charts/_line.html")
def line_chart(title: str, figures: Given) -> dict[str, object]:
    """Show how a value went, from left to right."""
    read = _read(figures)
    return {"title": title, "curve": curve(read), "figures": read}


@register.inclusion_tag("staff/charts/_shares.html")
def share_chart(title: str, figures: Given) -> dict[str, object]:
    """Show the parts of a whole."""
    return {"title": title, "shares": shares(_read(figures))}


@register.inclusion_tag("staff/charts/_pie.html")
def pie_chart(title: str, figures: Given) -> dict[str, object]:
    """Show the parts of a whole as a pie, with all figures beside it."""
    read = _read(figures)
    return {"title": title, "slices": slices(read), "figures": read}


def _read(figures: Given) -> list[Figure]:
    return [Figure(*each) for each in figures]
