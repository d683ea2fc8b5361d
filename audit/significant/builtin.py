"""Significant events that the event log itself raises, among them leaps of the clock.

Changing a machine's clock cannot be prevented, but it shows. Leaves follow the order of events,
except for transactions that overlap in time. So an event dated long before its predecessor was
written with a clock that went back. A clock that is set forward shows as a standstill, and as going
back when it is corrected.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from django.db import connection, transaction
from django.utils.translation import gettext_noop

from audit.models import Category, Clock, Pulse, Weight
from audit.sealing import checkpoints
from audit.significant import detection, workflow
from audit.significant.detection import Found, Leaves
from audit.staff_text import sentence
from audit.verification import house

OPEN: Final = timedelta(minutes=6)
"""Longer than a transaction of web and workers can last. One that was open for longer is reported
too, and needs attention in any case.
"""
STILL: Final = timedelta(minutes=2)  # without a pulse for longer, there was a standstill

BACK: Final = """
    SELECT event.id, event.at, before.at, before.id FROM audit_leaf AS leaf
    JOIN audit_event AS event ON event.id = leaf.event_id
    JOIN audit_leaf AS previous ON previous.leaf = leaf.leaf - 1
    JOIN audit_event AS before ON before.id = previous.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s AND event.at < before.at - make_interval(secs => %s) ORDER BY leaf.leaf
"""


def gone_back(leaves: Leaves) -> Iterable[Found]:
    """Find events that show that the database's clock went back."""
    with connection.cursor() as cursor:
        cursor.execute(BACK, [leaves.first, leaves.end, OPEN.total_seconds()])
        rows = cursor.fetchall()
    for event, at, before, previous in rows:
        yield Found(
            key=f"clock:{event}",
            category=Category.PARAMETER,
            weight=Weight.ALERT,
            on="clock",
            title=gettext_noop("Clock moved backwards"),
            happened_at=at,
            event=event,
            because=sentence(
                gettext_noop(
                    "Event %(event)s is dated %(early)s before event %(previous)s, which precedes it in the log. "
                    "A transaction open for more than %(minutes)s minutes has the same effect."
                ),
                event=event,
                early=str(before - at),
                previous=previous,
                minutes=OPEN.seconds // 60,
            ),
            rows=[
                {gettext_noop("Event"): str(previous), gettext_noop("Timestamp"): before.isoformat()},
                {gettext_noop("Event"): str(event), gettext_noop("Timestamp"): at.isoformat()},
            ],
        )


@transaction.atomic
def beat(who: str) -> None:
    """Record that workers are running, and report a standstill if the last pulse is older than
    `STILL`: shared tables did not advance in that time.
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
                title=gettext_noop("Workers interrupted"),
                happened_at=last,
                because=sentence(
                    gettext_noop(
                        "No worker was active between these two times, for %(seconds)s seconds: shared tables, "
                        "detection, e-mail and hourly totals were interrupted. Workers, their broker or the database "
                        "were not available."
                    ),
                    seconds=int((now - last).total_seconds()),
                ),
                rows=[{gettext_noop("Last seen"): last.isoformat(), gettext_noop("Active again"): now.isoformat()}],
            )
        )


KINDS: Final[dict[str, detection.Significance]] = {
    "log.refused": (Category.ERROR, Weight.ALERT, gettext_noop("Signer refuses the audit log")),
    "log.lags": (Category.ERROR, Weight.ALERT, gettext_noop("Audit log signing delayed")),
    "log.altered": (Category.ERROR, Weight.ALERT, gettext_noop("Audit log altered: signing stopped")),
    house.FOUND: (Category.ERROR, Weight.ALERT, gettext_noop("Verification of the house found a difference")),
    "log.unwitnessed": (Category.ERROR, Weight.ALERT, gettext_noop("Audit log lacks cosignatures of witnesses")),
    checkpoints.KEYS_ANNOUNCED: (
        Category.PARAMETER,
        Weight.NOTICE,
        gettext_noop("New audit log signing keys announced"),
    ),
    "retention.changed": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Retention period changed")),
    "personal.erased": (Category.PERSONAL, Weight.NOTICE, gettext_noop("Personal data erased")),
    "report.failed": (Category.ERROR, Weight.NOTICE, gettext_noop("Report failed")),
    "approval.not_decided": (Category.ERROR, Weight.NOTICE, gettext_noop("Approval could not be recorded")),
    "approval.not_withdrawn": (Category.ERROR, Weight.NOTICE, gettext_noop("Request could not be withdrawn")),
    detection.MISSED: (Category.ERROR, Weight.ALERT, gettext_noop("Significant events missing or changed")),
    "hourly_totals.failed": (Category.ERROR, Weight.ALERT, gettext_noop("Hourly totals failed")),
    detection.CHANGED: (Category.PARAMETER, Weight.NOTICE, gettext_noop("Threshold changed")),
}
ORDINARY: Final = (
    "approval.asked",  # has its own queue
    "approval.decided",  # its effect is an event of its own
    "approval.expired",
    "approval.withdrawn",  # has no effect
    "data.accessed",  # the access log shows these
    detection.FAILED,  # recorded as significant where it fails
    detection.KEPT,
    "log.accepted",
    "log.caught_up",
    "log.exported",
    "log.verified",
    "log.witnessed",
    "report.made",
    *workflow.KINDS,
    workflow.MUTED,
    "personal.expired",  # regular deletion under the retention rules
)


def register() -> None:
    """Register the kinds and finders of this app."""
    detection.register_kinds(KINDS)
    detection.register_ordinary(ORDINARY)
    detection.register("kinds", detection.by_kind, is_always=True)
    detection.register("clock", gone_back, is_always=True)
