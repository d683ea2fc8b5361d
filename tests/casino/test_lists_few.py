"""Lists of waiting or running items read few rows, for any size of the table."""

import re
from typing import Any

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet

from backoffice.lists.audit import Events
from backoffice.lists.paging import PAGE, read
from backoffice.lists.players import Mails, Sessions
from backoffice.lists.view import StaffListView
from tests.builders import a_player
from tests.staff_lists import asked_for

MANY_SENT = """
INSERT INTO players_mail (address, language, template, subject, sealed_body, written_at, next_try_at, sent_at, attempts,
    last_error)
SELECT 'a@example.com', 'en', 'x', 'x', '', now(), NULL, now(), 1, '' FROM generate_series(1, 20000)
"""
MANY_ENDED = """
INSERT INTO players_session (id, user_id, ip, browser, began_at, acted_at, ended_at, why)
SELECT gen_random_uuid(), %s, '', '', now() - n * interval '1 second', now(), now(), 'logged out'
FROM generate_series(1, 20000) AS n
"""


def narrowed(listing: type[StaffListView], **query: str) -> QuerySet[Any]:
    """Return the first page of a list, and one row more, as it is asked for."""
    asked = asked_for(listing, **query)
    return asked.found().order_by(*asked.order.fields)[: PAGE + 1]


def test_what_few_rows_are_is_found_among_many_by_an_index_of_those_alone(owner):
    user = a_player().user
    with connection.cursor() as cursor:
        cursor.execute(MANY_SENT)
        cursor.execute(MANY_ENDED, [user.pk])
    owner.execute("ANALYZE players_mail, players_session")
    for listing, value, index in (
        (Mails, "waiting", "players_mail_due"),
        (Mails, "given-up", "players_mail_given_up"),
        (Sessions, "running", "players_session_running"),
    ):
        plan = narrowed(listing, status=value).explain()
        assert index in plan, plan


EVENTS_OF_FOUR_KINDS = """
INSERT INTO audit_event (kind, by, "on", body)
SELECT (ARRAY['round.settled', 'session.began', 'session.ended', 'deposit.credited'])[1 + n % 4], 'system', 'test:1', ''
FROM generate_series(1, 20000) AS n
"""


def test_missing_rows_are_searched_in_the_same_way(owner):
    """By the key, every row of each month would be read to find none. That is how PostgreSQL looks by its own costs."""
    owner.execute(EVENTS_OF_FOUR_KINDS)
    owner.execute("ANALYZE audit_event")
    rows = narrowed(Events, kind="account.let_in")
    asked = "PREPARE asked (text) AS SELECT * FROM audit_event WHERE kind = $1 ORDER BY id DESC LIMIT 51"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute("SET LOCAL random_page_cost = 4")  # PostgreSQL's default, and not that of `casino.settings`
        cursor.execute(asked)
        before = explained(cursor)
        assert read(rows) == []
        cursor.execute("DEALLOCATE asked")
        cursor.execute(asked)
        after = explained(cursor)
    assert re.search(r"audit_event_\w+_pkey", before)
    assert not re.search(r"audit_event_\w+_pkey", after)
    assert re.search(r"audit_event_\w+_(kind|kind_id_idx) ", after)


def explained(cursor: CursorWrapper) -> str:
    """Return the plan for a kind without events."""
    cursor.execute("EXPLAIN EXECUTE asked ('account.let_in')")
    return "\n".join(line for (line,) in cursor.fetchall())
