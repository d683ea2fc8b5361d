"""Dates and times in the format of each language."""

from datetime import UTC, date, datetime

import pytest
from django.db import connection
from django.template import Context, Template
from django.utils import translation

from players.datetime_format import written_short_day
from players.models import Topic
from players.support import conversations
from tests.builders import a_player
from tests.people import a_member_of_staff, a_visitor

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
    template = Template("{% load casino %}{{ at|day }} {{ at|clock }}|{{ date|day }}")
    with translation.override(language):
        moment, _, day = template.render(Context({"at": MOMENT, "date": date(2026, 11, 21)})).partition("|")
    assert moment == text
    assert moment.startswith(day)


@pytest.mark.parametrize(
    ("language", "text"), [("sv", "3 maj"), ("da", "3. maj"), ("ro", "3 mai"), ("de", "3. Mai"), ("en", "3 May")]
)
def test_a_day_on_a_chart_has_the_month_of_the_language(language: str, text: str) -> None:
    assert written_short_day(date(2026, 5, 3), language) == text


@pytest.mark.django_db
def test_players_read_the_time_of_where_they_live_and_staff_utc():
    player, staff = a_player(jurisdiction="RO"), a_member_of_staff("support")
    conversations.begin(player=player, topic=Topic.QUESTION, text="What is the time?")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE players_conversation SET changed_at = '2026-11-21 22:05:09+00'")
    visitor = a_visitor()
    visitor.force_login(player.user)
    page = visitor.get("/en/service/").text
    assert "22 November 2026 00:05:09" in page
    assert "UTC" not in page
    desk = a_visitor()
    desk.force_login(staff.user)
    assert "2026-11-21 22:05:09" in desk.get("/staff/service/").text
