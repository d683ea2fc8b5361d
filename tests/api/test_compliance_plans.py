"""Queries of the compliance API read a range of an index, however many events there are."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import event_search, log
from audit.event_search import Wanted
from audit.models import Event
from tests.games.test_round_search import nodes
from tests.people import a_member_of_staff, a_visitor

MANY = 20_000
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
MANY_EVENTS = """
WITH happened AS (
    INSERT INTO audit_event (at, kind, by, "on", body)
    SELECT clock_timestamp() - (%(events)s - n) * interval '10 minutes', 'test.many', 'staff:9', 'round:' || n,
        '{"data": {"reason": "an ordinary day"}}'
    FROM generate_series(1, %(events)s) AS n
    RETURNING id
)
INSERT INTO audit_leaf (leaf, event_id) SELECT row_number() OVER (ORDER BY id) - 1, id FROM happened
"""


@pytest.mark.sweep
def test_no_search_reads_all_events_however_many_there_are(cloned_db, owner):
    owner.execute(MANY_EVENTS, {"events": MANY})
    rare = log.record("test.rare", by="staff:7", on="table:7", data={"reason": "The player was quarrelsome"})
    round_id = uuid4()
    log.record("test.rare", by="system", on=f"round:{round_id}", data={})
    owner.execute("ANALYZE")
    ids = list(Event.objects.order_by("pk").values_list("pk", flat=True))
    middle, now = ids[len(ids) // 2], Event.objects.get(pk=rare).at
    searches = [
        Wanted(),
        Wanted({"kind": "test.many"}),
        Wanted({"kind": "test.rare"}),
        Wanted({"by": "staff:7"}),
        Wanted({"on": "table:7"}),
        Wanted({"on": str(round_id)}),
        Wanted({"kind": "test.many", "by": "staff:7"}),
        Wanted({"kind": "test.none"}),
        Wanted(since=now),
        Wanted(since=now - timedelta(days=60), until=now - timedelta(days=59, hours=23)),
        Wanted({"kind": "test.many"}, until=LONG_AGO),
        Wanted(leaves=range(MANY // 2, MANY // 2 + 50)),
        Wanted({"kind": "test.many"}, leaves=range(MANY // 2, MANY // 2 + 50)),
    ]
    for wanted in searches:
        for after in (None, middle):
            for oldest_first in (False, True):
                reading = CaptureQueriesContext(connection)
                with reading:
                    event_search.find(wanted, after=after, oldest_first=oldest_first, limit=26)
                for each in reading.captured_queries:
                    reads_few(each["sql"], (wanted, after, oldest_first))
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("compliance").user)
    with CaptureQueriesContext(connection) as reading:
        page = visitor.get("/staff/events/?text=quarrel")
    assert [event.pk for event in page.context["page"].rows] == [rare]
    (search,) = (each["sql"] for each in reading.captured_queries if "to_tsquery" in each["sql"])
    reads_few(search, "text")


def reads_few(statement: str, wanted: object) -> None:
    """Check that no part of a statement's plan read more than a few of the events."""
    for node in plan_of(statement):
        seen = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        # An empty month may be read with a sequential scan.
        assert node["Node Type"] != "Seq Scan" or not seen, (wanted, node)
        assert seen <= MANY // 20, (wanted, node)


def plan_of(statement: str) -> Iterator[dict[str, Any]]:
    """Return every node of a statement's plan, as it ran."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        (answer,) = cursor.fetchone() or ("",)
    return nodes((answer if isinstance(answer, list) else json.loads(answer))[0]["Plan"])
