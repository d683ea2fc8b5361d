"""What the log needs to go on when a month of its events goes to an archive: leaves, tiles and checkpoints stay whole,
and of the events what nobody could do without.

An export, and whoever mirrors the log, begins at a tile all of whose events are here. So the events of the tile at
which the remaining ones begin stay with their bodies (`ArchivedEvent`), though their month has gone.
"""

from typing import Final

from django.db import connection
from django.db.backends.utils import CursorWrapper

from audit import partitions
from audit.models import ArchivedEvent, ArchivedMonth, Event, Leaf
from audit.sealing import checkpoints
from audit.verification.verify import WIDTH

UNSEALED: Final = """
    SELECT event.id FROM audit_event AS event
    LEFT JOIN audit_leaf AS leaf ON leaf.event_id = event.id AND leaf.leaf < %s
    WHERE event.id >= %s AND event.id < %s AND leaf.leaf IS NULL ORDER BY event.id LIMIT 1
"""
LEAVES: Final = "SELECT min(leaf), max(leaf) + 1 FROM audit_leaf WHERE event_id >= %s AND event_id < %s"
# The lowest leaf of an event that remains; where none of them is a leaf yet, the one that the next of them becomes. It
# is no lower than where the log began before: below that, all have gone.
LOWEST: Final = """
    SELECT coalesce(
        (SELECT leaf FROM audit_leaf WHERE leaf >= %s AND event_id >= %s ORDER BY leaf LIMIT 1),
        (SELECT max(leaf) + 1 FROM audit_leaf), 0)
"""
KEEP: Final = """
    INSERT INTO audit_archived_event (event_id, at, by, "on", body)
    SELECT id, at, by, "on", body FROM (
        SELECT event.id, event.at, event.by, event."on", event.body
        FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id
        WHERE leaf.leaf >= %(begin)s AND event.id >= %(first)s AND event.id < %(beyond)s
        UNION ALL
        SELECT event.id, event.at, event.by, event."on", NULL
        FROM audit_event AS event
        WHERE event.id >= %(first)s AND event.id < %(beyond)s
            AND EXISTS (SELECT FROM audit_personal AS personal WHERE personal.event_id = event.id)
            AND NOT EXISTS (SELECT FROM audit_leaf AS leaf WHERE leaf.event_id = event.id AND leaf.leaf >= %(begin)s)
    ) AS needed
"""
FIRST_REMAINING: Final = "SELECT leaf FROM audit_leaf WHERE event_id >= %s ORDER BY event_id LIMIT 1"
NEXT: Final = "SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf"
HERE: Final = """
    SELECT count(*) FROM audit_leaf AS leaf WHERE leaf.leaf >= %s AND leaf.leaf < %s AND (
        EXISTS (SELECT FROM audit_event AS event WHERE event.id = leaf.event_id)
        OR EXISTS (
            SELECT FROM audit_archived_event AS kept WHERE kept.event_id = leaf.event_id AND kept.body IS NOT NULL))
"""


class NotSealedYet(Exception):
    """An event of the month is in no signed tree: nothing would prove it once it has gone."""


class Archived(Exception):
    """What is asked for is no longer here but in the archive of a month. The message is a sentence that says which."""

    def __init__(self, what: str, month: ArchivedMonth) -> None:
        super().__init__(f"{what} has gone to the archive of {month.month}, the file {month.file}.")
        self.month = month


def demand_sealed(cursor: CursorWrapper, first: int, beyond: int) -> None:
    """Demand that every event with an id from *first* up to *beyond* is a leaf of the last signed tree. Raises
    NotSealedYet.
    """
    size = checkpoints.size()
    cursor.execute(UNSEALED, [size, first, beyond])
    found = cursor.fetchone()
    if found:
        raise NotSealedYet(f"event {found[0]} is in no signed tree: {size} leaves are signed")


def leaves(cursor: CursorWrapper, first: int, beyond: int) -> range:
    """Return the leaves of the events with ids from *first* up to *beyond*, from the beginning of the tile of the
    lowest to the end of the highest, and whatever lies between; none where there are none.
    """
    cursor.execute(LEAVES, [first, beyond])
    low, end = cursor.fetchone()
    return range(0) if low is None else range(low // WIDTH * WIDTH, end)


def keep_needed(cursor: CursorWrapper, first: int, beyond: int) -> int:
    """Keep what is needed of the events with ids from *first* up to *beyond*, which are about to go: whose they are and
    how old, where personal values of them are here; the whole event where it shares a tile with those that remain, or
    comes after it. Return how many are kept. The owner's, in the transaction in which they go, before they have gone.
    """
    cursor.execute(LOWEST, [_begins(cursor, first), beyond])
    (lowest,) = cursor.fetchone()
    cursor.execute(KEEP, {"begin": lowest // WIDTH * WIDTH, "first": first, "beyond": beyond})
    return cursor.rowcount


def first_leaf(cursor: CursorWrapper) -> int:
    """Return the leaf from which on all events are here, so that they can be exported: the beginning of a tile, and 0
    where nothing has gone to an archive.
    """
    cursor.execute("SELECT audit_cut()")
    (cut,) = cursor.fetchone()
    return _begins(cursor, cut)


def begins() -> int:
    """Return `first_leaf` as the house itself asks for it."""
    with connection.cursor() as cursor:
        return first_leaf(cursor)


def demand_here(leaf: int) -> None:
    """Demand that the events from this leaf on are here. Raises Archived."""
    if leaf >= begins():
        return
    last = partitions.cut()
    if last is not None:
        gone = Leaf.objects.filter(leaf__gte=leaf, event__lt=last.beyond).order_by("leaf").values_list("event").first()
        raise Archived(f"leaf {leaf}", (gone and partitions.archived(gone[0])) or last)


def body_of(event_id: int) -> bytes:
    """Return the bytes of an event that are proven. Raises Archived where they are no longer here; Event.DoesNotExist
    where there was never such an event.
    """
    body = Event.objects.filter(pk=event_id).values_list("body", flat=True).first()
    if body is None:
        body = ArchivedEvent.objects.filter(pk=event_id).values_list("body", flat=True).first()
    if body is not None:
        return bytes(body)
    month = partitions.archived(event_id)
    if month is None or not Leaf.objects.filter(event=event_id).exists():
        raise Event.DoesNotExist(event_id)
    raise Archived(f"event {event_id}", month)


def _begins(cursor: CursorWrapper, cut: int) -> int:
    """Return where the log begins whose events from the id *cut* on remain. Leaves are given nearly in the order of
    ids: from the tile of the first that remains it is a step or two down to where one has gone.
    """
    if not cut:
        return 0
    cursor.execute(FIRST_REMAINING, [cut])
    found = cursor.fetchone()
    if found is None:
        cursor.execute(NEXT)
        found = cursor.fetchone()
    begins: int = found[0] // WIDTH * WIDTH
    while begins and _is_whole(cursor, begins - WIDTH):
        begins -= WIDTH
    return begins


def _is_whole(cursor: CursorWrapper, begins: int) -> bool:
    """Say whether all events of a tile are here."""
    cursor.execute(HERE, [begins, begins + WIDTH])
    (here,) = cursor.fetchone()
    return bool(here == WIDTH)
