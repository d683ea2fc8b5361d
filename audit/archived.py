"""Months that have gone to archives, as `audit.verification.checking` holds them to the log: what is missing was taken
where the log says so, and nowhere else.

Of an event that has gone the house has its hash, in the tiles alone, and proves with it whatever the archive holds.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from django.db.backends.utils import CursorWrapper

from audit import models
from audit.tree.tiles import StoredTiles
from audit.verification.findings import Finding
from audit.verification.verify import HASH, UNREADABLE, WIDTH

# What the body of a kept event has to begin and end with, as in `audit.verification.verify_events`; of what kind it is,
# no column says.
KEPT: Final = """
    SELECT event_id,
        convert_to('{"at":"' || coalesce(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'infinity')
            || '","by":' || to_json(by) || ',"data":', 'UTF8'),
        convert_to(',"on":' || to_json("on") || '}', 'UTF8'), body
    FROM audit_archived_event WHERE body IS NOT NULL
"""
LEFT: Final = "SELECT count(*), min(id) FROM audit_event WHERE id >= %s AND id < %s"
LEAVES: Final = "SELECT count(*) FROM audit_leaf WHERE event_id >= %s AND event_id < %s"
NOT_GONE: Final = """
    SELECT kept.event_id FROM audit_archived_event AS kept LEFT JOIN audit_leaf AS leaf ON leaf.event_id = kept.event_id
    WHERE leaf.event_id IS NULL OR kept.event_id >= %s ORDER BY kept.event_id
"""
NOBODY_S: Final = """
    SELECT personal.event_id, personal.field
    FROM audit_personal AS personal JOIN audit_leaf AS leaf ON leaf.event_id = personal.event_id
    WHERE personal.event_id < %s
        AND NOT EXISTS (SELECT FROM audit_archived_event AS kept WHERE kept.event_id = personal.event_id)
    ORDER BY personal.event_id, personal.field
"""
COLUMNS: Final = ("first", "beyond", "events", "journals", "file", "sha256")  # that the event of a month repeats


@dataclass(frozen=True)
class Kept:
    """The body of an archived event that is kept, and what it has to begin and end with."""

    begins: bytes
    ends: bytes
    body: bytes


class Archived:
    """What the database says has gone, in the transaction of *cursor*: events with ids below *cut*, but for those that
    are *kept*.
    """

    def __init__(self, cursor: CursorWrapper) -> None:
        self._cursor = cursor
        self._months = list(models.ArchivedMonth.objects.order_by("beyond"))
        self.cut = self._months[-1].beyond if self._months else 0
        cursor.execute(KEPT)
        self.kept = {number: Kept(*map(bytes, written)) for number, *written in cursor.fetchall()}

    def findings(self) -> Iterator[Finding]:
        """Check each month that is said to have gone, and what has come back or stayed that should not."""
        due = 0
        for month in self._months:
            name = f"the archive of {month.month}"
            if month.first != due:
                yield Finding(f"{name} begins with {month.first}", f"those before it end before {due}", field="first")
            due = month.beyond
            yield from self._said(month, name)
            yield from self._counted(month, name)
        self._cursor.execute(NOT_GONE, [self.cut])
        for (number,) in self._cursor.fetchall():
            yield Finding("it is kept as one that has gone to an archive", "it has not gone to any", number)
        self._cursor.execute(NOBODY_S, [self.cut])
        for number, field in self._cursor.fetchall():
            yield Finding(
                "a personal value of an archived event stands alone",
                "nobody could erase it any more",
                number,
                field=field,
            )

    def _said(self, month: models.ArchivedMonth, name: str) -> Iterator[Finding]:
        """Check that a month has gone as an event says which the tree proves."""
        said = bytes(month.said)
        yield from self._is_in_the_log(month, said, name)
        try:
            event = json.loads(said)
            data: Mapping[str, Any] = event["data"]
            if (event["kind"], event["on"]) != ("month.archived", f"month:{month.month}"):
                raise LookupError
            differing = [column for column in COLUMNS if data[column] != getattr(month, column)]
        except (*UNREADABLE, LookupError, TypeError):
            yield Finding(
                f"{name} has something else as its event", "no event says that this month went", month.event_id
            )
            return
        for column in differing:
            yield Finding(
                f"{name} has {getattr(month, column)!r} in its row",
                f"its event says {data[column]!r}",
                month.event_id,
                field=column,
            )

    def _is_in_the_log(self, month: models.ArchivedMonth, said: bytes, name: str) -> Iterator[Finding]:
        leaf = models.Leaf.objects.filter(event=month.event_id).values_list("leaf", flat=True).first()
        if leaf is None:
            body = models.Event.objects.filter(pk=month.event_id).values_list("body", flat=True).first()
            if body is None or bytes(body) != said:
                yield Finding(f"{name} is in no event", "its row was put in: the log does not say it", month.event_id)
            return
        number, place = divmod(leaf, WIDTH)
        due = StoredTiles().read(0, number)[place * HASH : (place + 1) * HASH]
        found = sha256(b"\0" + said).digest()
        if found != due:
            yield Finding(
                f"what {name} has as its event hashes to {found.hex()}",
                f"what was sealed hashes to {due.hex()}: it was changed, or the log never said it",
                month.event_id,
                leaf,
                "said",
            )

    def _counted(self, month: models.ArchivedMonth, name: str) -> Iterator[Finding]:
        """Check that as many events went as leaves say, and that none of them is here."""
        self._cursor.execute(LEAVES, [month.first, month.beyond])
        (leaves,) = self._cursor.fetchone()
        if leaves != month.events:
            yield Finding(f"{leaves} leaves are of events in {name}", f"it has {month.events}: leaves were moved")
        self._cursor.execute(LEFT, [month.first, month.beyond])
        here, lowest = self._cursor.fetchone()
        if here:
            yield Finding(
                f"{here} events of {month.month} are here, from this one on", "they have gone to an archive", lowest
            )
