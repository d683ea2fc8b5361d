"""Charts match their figures and have every figure as text."""

import re
from typing import Any

import pytest
from django.template import Context, Template
from django.utils.translation import override

from backoffice.templatetags.charts import Figure, NegativeShare, Point, bars, curve, series, shares


def figures(*values: float) -> list[Figure]:
    return [Figure(f"day {place}", value, f"{value} €") for place, value in enumerate(values, 1)]


def drawn(tag: str, rows: list[tuple[Any, ...]]) -> str:
    page = Template(f'{{% load charts %}}{{% {tag} "Rounds" rows %}}')
    return page.render(Context({"rows": rows}))


def test_bars_share_one_scale_that_begins_at_nothing():
    assert [(ineligibility.start, ineligibility.length) for ineligibility in bars(figures(50, 200, 0))] == [
        (0, 25),
        (0, 100),
        (0, 0),
    ]


def test_negative_values_are_on_the_other_side_of_zero():
    assert [(ineligibility.start, ineligibility.length) for ineligibility in bars(figures(-100, 300))] == [
        (0, 25),
        (25, 75),
    ]


def test_nothing_at_all_has_no_length():
    assert [ineligibility.length for ineligibility in bars(figures(0, 0))] == [0, 0]
    assert bars([]) == []


def test_shares_fill_the_whole():
    assert [(share.start, share.length) for share in shares(figures(1, 1, 2))] == [(0, 25), (25, 25), (50, 50)]
    assert shares(figures(0, 0)) == []
    with pytest.raises(NegativeShare):
        shares(figures(1, -1))


def test_a_curve_goes_from_edge_to_edge_with_nothing_in_sight():
    found = curve(figures(50, 100, 75))
    assert found is not None
    assert found.line == "0.0,50.0 50.0,0.0 100.0,25.0"
    assert found.area == "0,100.0 0.0,50.0 50.0,0.0 100.0,25.0 100.0,100.0"
    assert (found.top, found.bottom, found.zero) == ("100 €", "0", 100)
    crossing = curve(figures(-10, 10))
    assert crossing is not None
    assert (crossing.top, crossing.bottom, crossing.zero) == ("10 €", "-10 €", 50)
    assert curve(figures(1)) is None


@pytest.mark.parametrize("tag", ["bar_chart", "line_chart", "share_chart"])
def test_every_figure_is_said_in_text_and_drawn_without_a_style(tag):
    rows: list[tuple[Any, ...]] = [
        ("Monday", 1234.5, "1.234,50 €"),
        ("Tuesday", 99.0, "99,00 €", "tie"),
        ("Wednesday", 7.25, "7,25 €"),
    ]
    with override("de"):
        page = drawn(tag, rows)
    for label, _, text, *_ in rows:
        assert label in page
        assert text in page
    assert "style=" not in page
    for numbers in re.findall(r'(?:x|width|points)="([^"]*)"', page):
        assert re.fullmatch(r"[\d., ]+", numbers), numbers
        assert all(0 <= float(number) <= 100 for number in re.split(r"[ ,]", numbers))


def test_a_series_has_round_values_on_its_axis_and_the_one_before_on_the_same_scale():
    points = [Point("00:00", 10, "10", 35, "35"), Point("01:00", -20, "-20", None), Point("02:00", None, "", 5, "5")]
    found = series("GGR", points, lambda value: f"{value:g}", "today", "yesterday")
    assert [tick.text for tick in found.values] == ["40", "20", "0", "-20"]
    assert (found.values[0].at, found.values[-1].at, round(found.zero, 1)) == (0, 100, 66.7)
    assert found.line == "0.0,50.0 50.0,100.0"
    assert found.line_before.startswith("0.0,8.33 100.0,")
    assert [(hit.start, hit.width, hit.middle) for hit in found.hits] == [(0, 25, 0), (25, 50, 50), (75, 25, 100)]
    assert [tick.text for tick in found.times] == ["00:00", "01:00", "02:00"]


def test_dates_on_an_axis_are_few_so_that_none_covers_another():
    days = [Point(f"2026-11-{day:02}", day, str(day)) for day in range(1, 31)]
    assert [tick.text for tick in series("GGR", days, str, "now").times] == ["2026-11-01", "2026-11-11", "2026-11-21"]


def test_a_series_of_nothing_has_only_nothing_on_its_axis():
    found = series("GGR", [Point("00:00", 0, "0"), Point("01:00", 0, "0")], str, "today")
    assert {tick.text for tick in found.values} <= {"", "0", "0.0"}


def test_every_value_of_a_series_is_in_a_table_and_can_be_read_by_keys():
    chart = series("GGR", [Point("00:00", 10, "ten", 35, "was"), Point("01:00", 20, "twenty")], str, "now", "then")
    page = Template("{% load charts %}{% series_chart chart %}").render(Context({"chart": chart}))
    assert '<th scope="row">00:00</th><td class="num">ten</td><td class="num">was</td>' in page
    assert 'data-text="00:00: ten · then: was"' in page
    assert 'class="series__plot" tabindex="0"' in page
    assert "style=" not in page
