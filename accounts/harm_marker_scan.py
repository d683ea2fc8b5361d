"""The look for markers of harm: all that the floors define, at those who have done something since the look before."""

from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from games import harm_markers as of_play
from players.harm_markers import active_since, find, raise_flag
from players.models import Look
from wallet import harm_markers as of_money

DEFINITIONS: Final = (*of_play.MARKERS, *of_money.MARKERS)
ADVISORY_LOCK: Final = 0x5AB07_0010
BATCH: Final = 200  # players
SETTLED: Final = 5  # minutes: no transaction takes longer, so that what is older has been committed
FIRST: Final = timedelta(days=30)  # how far back the first look of a house goes

LIMITS_OF_LOOK = """
SELECT settled, coalesce(
    (SELECT min(id) - 1 FROM audit_event WHERE id > %(mark)s::bigint AND at >= settled),
    (SELECT max(id) FROM audit_event), 0)
FROM (SELECT clock_timestamp() - make_interval(mins => %(settled)s::int) AS settled) AS moment
"""


@transaction.atomic
def look() -> int:
    """Look for markers and return how many flags were raised or have become worse.

    One at a time: whoever comes while another one looks leaves it to them. Looking twice raises nothing twice.
    """
    if not _take_turn():
        return 0
    last = Look.objects.order_by("-id").first()
    mark = last.event_id if last else 0
    settled, event_id = _until(mark)
    seen = last.seen if last else settled - FIRST
    players = active_since(mark)
    raised = 0
    for start in range(0, len(players), BATCH):
        some = players[start : start + BATCH]
        for definition in DEFINITIONS:
            raised += sum(raise_flag(definition, found) for found in find(definition, players=some, seen=seen))
    Look.objects.create(seen=settled, event_id=event_id, players=len(players), flags=raised)
    return raised


def _take_turn() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s::bigint)", [ADVISORY_LOCK])
        (taken,) = cursor.fetchone()
    return bool(taken)


def _until(mark: int) -> tuple[datetime, int]:
    """Return up to when, and up to which event, everything has been committed."""
    with connection.cursor() as cursor:
        cursor.execute(LIMITS_OF_LOOK, {"mark": mark, "settled": SETTLED})
        settled, event_id = cursor.fetchone()
    return settled, event_id
