"""Days and times as each language writes them."""

from datetime import UTC, date, datetime

import pytest
from django.template import Context, Template
from django.utils import translation

MOMENT = datetime(2026, 11, 21, 4, 5, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sv", "21 november 2026 04:05:09"),
        ("da", "21. november 2026 04.05.09"),
        ("ro", "21 noiembrie 2026 04:05:09"),
        ("de", "21. November 2026 04:05:09"),
        ("en", "21 November 2026 04:05:09"),
    ],
)
def test_each_language_writes_a_moment_its_own_way(language: str, text: str) -> None:
    template = Template("{% load dates %}{{ at|day }} {{ at|clock }}|{{ date|day }}")
    with translation.override(language):
        moment, _, day = template.render(Context({"at": MOMENT, "date": date(2026, 11, 21)})).partition("|")
    assert moment == text
    assert moment.startswith(day)
