"""Lag of the signed tree: events that no checkpoint covers cannot be proven to outsiders yet."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import connection

from audit.sealing import alarms, checkpoints

# Within one sealing, leaves follow the order of event ids, so the first row of each is the oldest,
# except for transactions that were still open.
OLDEST = """
    SELECT clock_timestamp(), min(event.at) FROM audit_event AS event WHERE event.id IN (
        (SELECT event_id FROM audit_leaf WHERE leaf >= %s ORDER BY leaf LIMIT 1)
        UNION ALL
        (SELECT event_id FROM audit_pending ORDER BY event_id LIMIT 1))
"""


@dataclass(frozen=True)
class Lag:
    """Time of the oldest event that no signed checkpoint covers (None where all are covered), and
    its age in seconds by the database's clock.
    """

    since: datetime | None
    seconds: int

    @property
    def is_long(self) -> bool:
        """Whether the lag is longer than ``AUDIT_LAG_SECONDS``."""
        return self.seconds > settings.AUDIT_LAG_SECONDS


def lag() -> Lag:
    """Return the current lag."""
    signed = checkpoints.size()
    with connection.cursor() as cursor:
        cursor.execute(OLDEST, [signed])
        now, since = cursor.fetchone()
    return Lag(since, max(int((now - since).total_seconds()), 0) if since else 0)


def watch() -> None:
    """Raise the alarm when the lag is long, and end it when it is not (`alarms.LAGS`)."""
    found = lag()
    if found.is_long and found.since:
        alarms.begin(alarms.LAGS, {"seconds": found.seconds, "since": found.since.isoformat()})
    elif not found.is_long:
        alarms.end(alarms.LAGS, {"seconds": found.seconds})
