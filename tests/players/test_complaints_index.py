"""Indexes of messages and complaints: every page of a list costs the same."""

from typing import Any

import pytest
from django.db import connection

from backoffice.lists.staff_list import StaffList
from backoffice.support import queues
from backoffice.support.queues import PAGE
from players.models import Staff, Topic, Verdict
from players.support import complaints, conversations
from tests.builders import a_player
from tests.people import a_member_of_staff
from tests.staff_lists import asked_for

OPEN_ONES, ENDED = "players_complaint_due", "players_complaint_ended"


@pytest.fixture
def placeholders(cloned_db) -> dict[str, str]:
    """Return the marks of the second page of each list."""
    support = a_member_of_staff("support")
    for each in range(PAGE // 5 + 1):
        player = a_player()
        for _ in range(5):
            begun = conversations.begin(player=player, topic=Topic.COMPLAINT, text="No.")
            if each % 2 == 0:
                seen = begun.messages.latest("pk").pk
                complaints.decide(
                    by=support, conversation_id=begun.pk, verdict=Verdict.UPHELD, reasons="Yes.", seen=seen
                )
    found = {}
    for show in ("", "ended"):
        listing = complaints_of(show=show)
        found[show] = listing.cursor_after(listing.read(listing.order, (), 3))
    assert all(found.values())
    return found


def complaints_of(**query: Any) -> queues.Complaints:
    """The complaints that a member of support asks for."""
    asked = asked_for(queues.Complaints, **query)
    asked.request.staff = Staff(pk=1)
    return asked


def second_page(listing: StaffList, mark: str) -> None:
    """Read the page of a list that a mark leads to."""
    listing.read(listing.order, listing.key_of(mark), PAGE + 1)


COMPLAINTS = [
    ({}, OPEN_ONES),
    ({"show": "mine"}, OPEN_ONES),
    ({"show": "nobodys"}, OPEN_ONES),
    ({"show": "overdue"}, OPEN_ONES),
    ({"show": "ended"}, ENDED),
    ({"verdict": "upheld"}, ENDED),
]
MESSAGES: list[tuple[dict[str, Any], str]] = [
    ({}, "players_conversation_waits"),
    ({"state": "answered"}, "players_conversation_said"),
    ({"state": "closed"}, "players_conversation_over"),
    ({"player": 1}, "players_conversation_mine"),
]


def test_a_page_of_each_list_is_one_range_of_one_index(placeholders):
    for filters, index in COMPLAINTS:
        before = placeholders["ended" if index == ENDED else ""]
        lines = plan(lambda asked=filters, before=before: second_page(complaints_of(**asked), before))
        assert index in lines, filters
        assert "Sort" not in lines, filters
        assert "Seq Scan on players_conversation" not in lines, filters
    for asked, index in MESSAGES:
        lines = plan(lambda asked=asked: second_page(asked_for(queues.Messages, **asked), placeholders[""]))
        assert index in lines, asked
        assert "Sort" not in lines, asked


def plan(read: Any) -> str:
    """Return PostgreSQL's plan for the conversations that *read* requests."""
    found: list[str] = []

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT") and 'FROM "players_conversation"' in sql:
            with connection.cursor() as cursor:
                execute_plain = cursor.cursor.execute
                execute_plain("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
                execute_plain(f"EXPLAIN {sql}", params)
                found.append("\n".join(line for (line,) in cursor.fetchall()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        read()
    assert len(found) == 1
    return found[0]
