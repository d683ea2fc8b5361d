"""Event reader: reads events of some kinds in an interval for reports, with who authorised them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from audit import id_ranges, log
from audit.reports.kinds import Interval

# Uses the index on kind and ID. A decision is executed in the transaction of the decision, so the
# event names the decider and follows the decision at once.
FOUND: Final = """
SELECT event.id, event.at, event.kind, event.by, event."on", event.body, asked.by, asked.reason
FROM audit_event AS event
LEFT JOIN LATERAL (
    SELECT approval.by, approval.reason
    FROM audit_approval AS approval JOIN audit_decision AS decision ON decision.approval_id = approval.id
    WHERE approval."on" = event."on" AND decision.verdict = 'approved' AND decision.by = event.by
      AND decision.at BETWEEN event.at - %(slack)s AND event.at + %(slack)s
    ORDER BY approval.id DESC LIMIT 1
) AS asked ON true
WHERE event.kind = ANY (%(kinds)s) AND event.id >= %(first)s AND event.id < %(beyond)s
  AND event.at >= %(since)s AND event.at < %(until)s
ORDER BY event.id
"""
COUNTED: Final = """
SELECT count(*) FROM audit_event AS event
WHERE event.kind = ANY (%(kinds)s) AND event.id >= %(first)s AND event.id < %(beyond)s
  AND event.at >= %(since)s AND event.at < %(until)s
"""


@dataclass(frozen=True)
class ReportEvent:
    """An event from the log; *asked_by* and *asked_because* are the requester and reason of its approval, if any."""

    number: int
    at: datetime
    kind: str
    by: str
    on: str
    data: Mapping[str, log.Json]
    personal: Sequence[str]  # names of its personal values
    asked_by: str
    asked_because: str


def read_events(kinds: Sequence[str], interval: Interval) -> Iterator[ReportEvent]:
    """Yield all events of *kinds* in *interval*, in order, reading in chunks."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(FOUND, _wanted(kinds, interval))
        for number, at, kind, by, on, body, asked_by, because in cursor:
            event = json.loads(bytes(body))
            personal = tuple(sorted(event.get("personal", ())))
            yield ReportEvent(number, at, kind, by, on, event["data"], personal, asked_by or "", because or "")


def count(kinds: Sequence[str], interval: Interval) -> int:
    """Return the number of these events."""
    with connection.cursor() as cursor:
        cursor.execute(COUNTED, _wanted(kinds, interval))
        found: int = cursor.fetchone()[0]
    return found


def _wanted(kinds: Sequence[str], interval: Interval) -> dict[str, Any]:
    ids = id_ranges.ids("audit_event", interval)
    return {
        "kinds": list(kinds),
        "first": ids.start,
        "beyond": ids.stop,
        "since": interval.since,
        "until": interval.until,
        "slack": id_ranges.SLACK,
    }
