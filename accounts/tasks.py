"""Periodic Celery tasks of accounts, and the scan for markers of harm that one of them runs."""

from datetime import datetime, timedelta
from typing import Final

from celery import shared_task
from django.db import connection, transaction

from accounts import closing, retention
from accounts.harm_markers import MARKERS
from players.models import HarmMarkerScan
from players.protection.harm_markers import active_since, find, raise_flag

ADVISORY_LOCK: Final = 0x5AB07_0010
BATCH: Final = 200  # players
SETTLED: Final = 5  # minutes; no transaction lasts longer, so everything older has committed
FIRST: Final = timedelta(days=30)  # period covered by the first scan

SCAN_LIMITS = """
SELECT settled, coalesce(
    (SELECT min(id) - 1 FROM audit_event WHERE id > %(since_id)s::bigint AND at >= settled),
    (SELECT max(id) FROM audit_event), 0)
FROM (SELECT clock_timestamp() - make_interval(mins => %(settled)s::int) AS settled) AS moment
"""


@transaction.atomic
def scan() -> int:
    """Scan for markers and return how many flags were raised or got worse.

    Only one scan runs at a time; a concurrent call returns 0. A repeated scan raises nothing twice.
    """
    if not _take_turn():
        return 0
    last = HarmMarkerScan.objects.order_by("-id").first()
    since_id = last.event_id if last else 0
    settled, event_id = _until(since_id)
    seen = last.seen if last else settled - FIRST
    players = active_since(since_id)
    raised = 0
    for start in range(0, len(players), BATCH):
        some = players[start : start + BATCH]
        for definition in MARKERS:
            raised += sum(raise_flag(definition, found) for found in find(definition, players=some, seen=seen))
    HarmMarkerScan.objects.create(seen=settled, event_id=event_id, players=len(players), flags=raised)
    return raised


def _take_turn() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s::bigint)", [ADVISORY_LOCK])
        (taken,) = cursor.fetchone()
    return bool(taken)


def _until(since_id: int) -> tuple[datetime, int]:
    """Return the time and the event up to which everything has committed."""
    with connection.cursor() as cursor:
        cursor.execute(SCAN_LIMITS, {"since_id": since_id, "settled": SETTLED})
        settled, event_id = cursor.fetchone()
    return settled, event_id


@shared_task
def finish_closing() -> None:
    """Complete closings whose money has been paid out, and return money that arrived late."""
    closing.finish_closing()
    closing.return_late_money()


@shared_task
def expire() -> None:
    """Delete data past its retention period."""
    retention.expire()


@shared_task
def scan_harm_markers() -> None:
    """Scan for markers of harm."""
    scan()
