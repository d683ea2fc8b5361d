"""Nightly second reading of the last day's leaves. The position of a finder is a row that web and
workers can write. Someone with a stolen login could move it past an event, or store a finding in
advance with other contents. Missed findings are stored now, and staff are told that they are late.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import Min

from audit import id_ranges, log
from audit.models import Cursor, Event, Leaf, Significant
from audit.sealing import sealer
from audit.significant import detection, thresholds
from audit.significant.detection import Found, Leaves

logger = logging.getLogger(__name__)

BACK: Final = timedelta(hours=30)  # more than from one night to the next
MISSED: Final = "significant.missed"  # event kind
MOST_LISTED: Final = 100  # keys that one event names


@dataclass(frozen=True)
class Amiss:
    """Findings of the last day that are missing or stored with other contents, by key."""

    missing: Mapping[str, Found]
    other: Mapping[str, Found]

    def still(self, later: "Amiss") -> "Amiss":
        """Return what is still missing or different in *later*."""
        return Amiss(
            {key: each for key, each in self.missing.items() if key in later.missing},
            {key: each for key, each in self.other.items() if key in later.other},
        )


def scan() -> int:
    """Read the leaves of the last day again, store missing findings, and return their number. A
    finding that is stored with other contents is stored again under another key.
    """
    amiss = _amiss()
    if not (amiss.missing or amiss.other):
        return 0
    # Finders query current state, which may include events that are not read yet: seal and read
    # them, then compare again.
    sealer.seal()
    detection.find()
    amiss = amiss.still(_amiss())
    late = {key for key, each in amiss.missing.items() if detection.keep(each)}
    other = {key for key, each in amiss.other.items() if detection.keep(replace(each, key=f"again:{key}"))}
    if late or other:
        details: dict[str, log.Json] = {
            "late": len(late),
            "late_keys": sorted(late)[:MOST_LISTED],
            "other": len(other),
            "other_keys": sorted(other)[:MOST_LISTED],
        }
        log.record(MISSED, by="system", on="significant", data=details)
    return len(late) + len(other)


def _amiss() -> Amiss:
    first, changed = _since(datetime.now(UTC) - BACK)
    found: dict[str, Found] = {}
    for name, finder, is_always in detection.finders():
        # The thresholds before a change are not known any more.
        begin = first if is_always else max(first, changed)
        end = Cursor.objects.filter(pk=name).values_list("leaves", flat=True).first() or 0
        try:
            for leaf in range(begin, end, detection.BATCH):
                for each in finder(Leaves(leaf, min(leaf + detection.BATCH, end))):
                    found.setdefault(each.key, each)
        except Exception:
            logger.exception("%s does not read again", name)  # staff were notified at its first reading, or will be
    there = {
        key: rest
        for key, *rest in Significant.objects.filter(key__in=list(found)).values_list("key", "category", "weight", "on")
    }
    missing = {key: each for key, each in found.items() if key not in there}
    other = {key: each for key, each in found.items() if key in there and there[key] != _what(each)}
    return Amiss(missing, other)


def _what(found: Found) -> list[str | int]:
    return [found.category.value, found.weight.value, found.on]


def _since(moment: datetime) -> tuple[int, int]:
    """Return the first leaf since *moment*, and the leaf after the last change of thresholds, 0 without one."""
    lowest = id_ranges.first_id("audit_event", moment)
    first = Leaf.objects.filter(event_id__gte=lowest).aggregate(first=Min("leaf"))["first"]
    last = Event.objects.filter(kind=thresholds.CHANGED, pk__gte=lowest).order_by("-pk").first()
    changed = Leaf.objects.filter(event=last).values_list("leaf", flat=True).first() if last else None
    size = sealer.leaves()
    if last and changed is None:
        changed = size  # it is not sealed yet
    return (size if first is None else first), (0 if changed is None else changed + 1)
