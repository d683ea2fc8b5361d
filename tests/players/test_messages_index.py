"""Indexes of messages: every page of the list costs the same."""

from typing import Any

import pytest
from django.db import connection

from backoffice.lists.staff_list import StaffList
from backoffice.support.conversations import PAGE, Messages
from players.models import Topic
from players.support import conversations
from tests.builders import a_player
from tests.people import a_member_of_staff
from tests.staff_lists import asked_for


@pytest.fixture
def second_page_cursor(cloned_db) -> str:
    """Return the cursor of the second page of the messages."""
    support = a_member_of_staff("support")
    for each in range(PAGE // 5 + 1):
        player = a_player()
        for _ in range(5):
            begun = conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
            if each % 2 == 0:
                conversations.close(staff=support, conversation_id=begun.pk, seen=begun.messages.latest("pk").pk)
    listing = asked_for(Messages)
    found = listing.cursor_after(listing.read(listing.order, (), 3))
    assert found
    return found


def second_page(listing: StaffList, cursor: str) -> None:
    """Read the page of a list that a cursor leads to."""
    listing.read(listing.order, listing.key_of(cursor), PAGE + 1)


MESSAGES: list[tuple[dict[str, Any], str]] = [
    ({}, "players_conversation_waits"),
    ({"state": "answered"}, "players_conversation_said"),
    ({"state": "closed"}, "players_conversation_over"),
    ({"player": 1}, "players_conversation_mine"),
]


def test_a_page_of_the_messages_is_one_range_of_one_index(second_page_cursor):
    for asked, index in MESSAGES:
        lines = plan(lambda asked=asked: second_page(asked_for(Messages, **asked), second_page_cursor))
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
