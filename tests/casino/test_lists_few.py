"""Lists of waiting or running items read few rows, whatever the size of the table."""

import re

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.test import RequestFactory

from audit.models import Event
from backoffice.lists.framework.listing import PAGE
from backoffice.lists.framework.paging import read
from backoffice.lists.navigation import SITE
from players.models import Mail, Session
from tests.builders import a_player
from tests.people import a_member_of_staff

MANY_SENT = """
INSERT INTO players_mail (address, language, template, subject, body, written_at, next_try_at, sent_at, attempts,
    last_error)
SELECT 'a@example.com', 'en', 'x', 'x', '', now(), NULL, now(), 1, '' FROM generate_series(1, 20000)
"""
MANY_ENDED = """
INSERT INTO players_session (id, user_id, ip, browser, began_at, acted_at, ended_at, why)
SELECT gen_random_uuid(), %s, '', '', now() - n * interval '1 second', now(), now(), 'logged out'
FROM generate_series(1, 20000) AS n
"""


def test_what_few_rows_are_is_found_among_many_by_an_index_of_those_alone(owner):
    user = a_player().user
    with connection.cursor() as cursor:
        cursor.execute(MANY_SENT)
        cursor.execute(MANY_ENDED, [user.pk])
    owner.execute("ANALYZE players_mail, players_session")
    for model, value, index in (
        (Mail, "waiting", "players_mail_due"),
        (Mail, "given-up", "players_mail_given_up"),
        (Session, "running", "players_session_running"),
    ):
        listing = next(found for found in SITE.listings() if found.model is model)
        request = RequestFactory().get("/", {"status": value})
        request.user = a_member_of_staff("compliance").user
        plan = listing.get_changelist_instance(request).queryset[: PAGE + 1].explain()
        assert index in plan, plan


EVENTS_OF_FOUR_KINDS = """
INSERT INTO audit_event (kind, by, "on", body)
SELECT (ARRAY['round.settled', 'session.began', 'session.ended', 'deposit.credited'])[1 + n % 4], 'system', 'test:1', ''
FROM generate_series(1, 20000) AS n
"""


@pytest.mark.sweep
def test_what_there_is_none_of_is_looked_for_where_it_would_be(owner):
    """By the key, every row of each month would be read to find none."""
    owner.execute(EVENTS_OF_FOUR_KINDS)
    owner.execute("ANALYZE audit_event")
    listing = next(found for found in SITE.listings() if found.model is Event)
    request = RequestFactory().get("/", {"kind": "account.let_in"})
    request.user = a_member_of_staff("compliance").user
    rows = listing.get_changelist_instance(request).queryset[: PAGE + 1]
    asked = "PREPARE asked (text) AS SELECT * FROM audit_event WHERE kind = $1 ORDER BY id DESC LIMIT 51"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
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
