"""The clock that dates every event, and the pulse of the house: what time itself says about what happened.

Nobody can be stopped from setting the clock of a machine, but it shows. Leaves follow the order of events but for
transactions that were open meanwhile; so an event that is dated long before its predecessor was written by a clock that
went back. That it was set forward shows as a standstill, and as one that went back when it is set right.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from django.db import connection, transaction

from audit.models import Category, Clock, Pulse, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves

OPEN: Final = timedelta(minutes=6)
"""More than a transaction of web and workers may last. One that was open for longer is found, too, and is something to
be looked at in any case.
"""
STILL: Final = timedelta(minutes=2)  # without a pulse, and the house stood still

BACK: Final = """
    SELECT event.id, event.at, before.at, before.id FROM audit_leaf AS leaf
    JOIN audit_event AS event ON event.id = leaf.event_id
    JOIN audit_leaf AS previous ON previous.leaf = leaf.leaf - 1
    JOIN audit_event AS before ON before.id = previous.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s AND event.at < before.at - make_interval(secs => %s) ORDER BY leaf.leaf
"""


def gone_back(leaves: Leaves) -> Iterable[Found]:
    """Find where the database's clock went back."""
    with connection.cursor() as cursor:
        cursor.execute(BACK, [leaves.first, leaves.end, OPEN.total_seconds()])
        rows = cursor.fetchall()
    for event, at, before, previous in rows:
        yield Found(
            key=f"clock:{event}",
            category=Category.PARAMETER,
            weight=Weight.ALERT,
            on="clock",
            title="The clock went back",
            happened_at=at,
            event=event,
            because=f"Event {event} is dated {before - at} before event {previous}, which the log has before it. "
            f"A transaction that was open for more than {OPEN.seconds // 60} minutes would look the same.",
            rows=[
                {"Event": str(previous), "Dated": before.isoformat()},
                {"Event": str(event), "Dated": at.isoformat()},
            ],
        )


@transaction.atomic
def beat(who: str) -> None:
    """Say that the house's workers are alive, and find it where nobody said so for longer than `STILL`: tables had
    nobody to move them meanwhile.
    """
    Pulse.objects.bulk_create([Pulse(who=who, at=Clock())], ignore_conflicts=True)
    last = Pulse.objects.select_for_update().get(who=who).at
    Pulse.objects.filter(who=who).update(at=Clock())
    now = Pulse.objects.get(who=who).at
    if now - last > STILL:
        detection.keep(
            Found(
                key=f"pulse:{who}:{last.isoformat()}",
                category=Category.STANDSTILL,
                weight=Weight.ALERT,
                on="house",
                title="The house stood still",
                happened_at=last,
                because=f"No worker did anything between these two moments, for {int((now - last).total_seconds())} "
                "seconds: nobody moved shared tables, and nothing was found, sent or summed up. Workers, their broker "
                "or the database were away.",
                rows=[{"Last seen": last.isoformat(), "Seen again": now.isoformat()}],
            )
        )
