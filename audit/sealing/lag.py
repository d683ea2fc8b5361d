"""How far the signed tree lags behind what happens. What no checkpoint covers, nobody outside could prove yet."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import connection

from audit.sealing import alarms, checkpoints

# Leaves follow the order of ids within one call of the sealer, so the first of each is the oldest but for transactions
# that were still open then.
OLDEST = """
    SELECT clock_timestamp(), min(event.at) FROM audit_event AS event WHERE event.id IN (
        (SELECT event_id FROM audit_leaf WHERE leaf >= %s ORDER BY leaf LIMIT 1)
        UNION ALL
        (SELECT event_id FROM audit_pending ORDER BY event_id LIMIT 1))
"""


@dataclass(frozen=True)
class Lag:
    """Since when the oldest event waits that no signed checkpoint covers, None where all are covered, and how many
    seconds that is, by the database's clock.
    """

    since: datetime | None
    seconds: int

    @property
    def is_long(self) -> bool:
        """Whether that is longer than ``AUDIT_LAG_SECONDS``."""
        return self.seconds > settings.AUDIT_LAG_SECONDS


def lag() -> Lag:
    """Return the lag as it is now."""
    signed = checkpoints.size()
    with connection.cursor() as cursor:
        cursor.execute(OLDEST, [signed])
        now, since = cursor.fetchone()
    return Lag(since, max(int((now - since).total_seconds()), 0) if since else 0)


def watch() -> None:
    """Record that the seal lags, once, and that it has caught up, and tell staff of both (`alarms.LAGS`)."""
    found = lag()
    if found.is_long and found.since:
        alarms.begin(alarms.LAGS, {"seconds": found.seconds, "since": found.since.isoformat()})
    elif not found.is_long:
        alarms.end(alarms.LAGS, {"seconds": found.seconds})
