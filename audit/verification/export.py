"""Exports of the event log for auditors: the log, or a part of it, as a static transparency log
(C2SP tlog-tiles), and single events with their proofs. Each export is a ZIP that includes the
script that verifies it.

Events contain no personal values, so exports do not either. An auditor who is entitled to them gets
them in a separate file of the ZIP.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from django.db import connection

from audit import log
from audit.models import Checkpoint, Event, Tile
from audit.sealing import checkpoints
from audit.tree import NotSealed, proof_of
from audit.verification import verify
from audit.verification.verify import HASH, UNSALTED, WIDTH, Unproven, events_path, tile_path

Files = Iterator[tuple[str, Iterable[bytes]]]

EXPORTED: Final = "log.exported"  # the kind of the events about exports
ENTRIES: Final = """
    SELECT leaf.leaf, audit_entry(event.body, event.salt)
    FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s ORDER BY leaf.leaf
"""
EVENTS: Final = """
    SELECT leaf.leaf, coalesce(event.salt, %s) || event.body
    FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s ORDER BY leaf.leaf
"""
PERSONAL: Final = """
    SELECT leaf.leaf, personal.field, personal.salt, personal.value
    FROM audit_leaf AS leaf JOIN audit_personal AS personal ON personal.event_id = leaf.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s ORDER BY leaf.leaf, personal.field
"""

README: Final = """\
{about}

To check it you need Python 3.11 or newer, and nothing else: no network, no other program of the house.

    python3 -I verify.py EXPORT --keys KEYS{part}

EXPORT is this ZIP, or the folder that it was unpacked into. KEYS is a file with the public keys of the log,
a line each. Take it from where you trust it: the file "keys" in here comes from those who made this export, and
so does verify.py, which is written to be read first. A checkpoint that you kept from an earlier day shows
that nothing before it has changed since: add --checkpoint FILE.

The formats are those of public transparency logs (c2sp.org: {formats}).
Other programs read them, among them Go's golang.org/x/mod/sumdb.

What it shows: these very bytes were in the log, at these places, when the tree was signed. Nothing before them
was changed, left out, put in or put in another order since. Whether an event is dated as it should be, the
times that checkpoints bear show within some minutes.

What it cannot show: that all that happened was written down, or that what was written down is true. Anyone who
has the key of the log could sign another history for somebody who kept no checkpoint of this one. Personal
data, such as addresses, is in events as salted hashes only, so that erasing it leaves every proof as it
is.{personal}
"""
ABOUT_LOG: Final = """\
The event log of {origin}, {part}: what happened, as canonical JSON, an entry for each event.

checkpoint     the signed tree over all {size} leaves, and checkpoints/ earlier ones
tile/          the hashes of the tree; in tile/entries/ the entries of the public log, 256 to a file, each after
               its length in two bytes: an event that speaks of no person, or the hash of any other
events/        the events themselves, each after its length and its salt of 16 bytes. The entry of an event is
               {{"hash":"..."}} with the SHA-256 of salt and event in hex, or the event itself where all 16 are zero"""
ABOUT_EVENT: Final = """\
One event of a log, and the proof that it is in it.

event.json         the event, byte for byte as it is proven
event.tlog-proof   its place in the tree, the hashes that lead to the root, and the signed checkpoint. Where it
                   has extra data, that is a salt, and the entry of the event in the log is {"hash":"..."} with
                   the SHA-256 of salt and event in hex; otherwise it is the event"""
WITH_PERSONAL: Final = """

This export has personal data: the file "personal" holds the leaf, field, salt and text of each value that was
not erased. SHA-256 of salt and text is in the event. Keep it as such data is to be kept."""


@dataclass(frozen=True)
class Part:
    """A range of leaves to export: *first* up to and excluding *end*, of the tree of *checkpoint*.
    The range covers whole tiles, so that each can be verified.
    """

    checkpoint: Checkpoint
    first: int
    end: int

    @property
    def tiles(self) -> range:
        """The numbers of the tiles that contain these leaves."""
        return range(self.first // WIDTH, -(-self.end // WIDTH))


def part(first: int = 0, end: int | None = None) -> Part:
    """Return the part of the last signed tree that contains these leaves, extended to whole tiles.
    Raises NotSealed where no signed tree contains them.
    """
    last = checkpoints.last()
    if last is None or not 0 <= first < last.size or (end is not None and end <= first):
        raise NotSealed(f"no signed tree has leaf {first}")
    whole = last.size if end is None else min(-(-end // WIDTH) * WIDTH, last.size)
    return Part(last, first // WIDTH * WIDTH, whole)


def export(chosen: Part, *, by: str, personal: bool = False) -> Iterator[bytes]:
    """Return the ZIP of a part of the log in chunks; *personal* adds the personal values. An event
    records the recipient *by* before the first chunk is sent.
    """
    data: dict[str, log.Json] = {"first": chosen.first, "end": chosen.end, "size": chosen.checkpoint.size}
    log.record(EXPORTED, by=by, on="log", data=data | {"personal": personal})
    return zipped(_log(chosen, personal=personal))


def export_event(event_id: int) -> bytes:
    """Return the ZIP of one event with its proof. Raises NotSealed."""
    proof = proof_of(event_id)
    body = bytes(Event.objects.values_list("body", flat=True).get(pk=event_id))
    files = [("event.json", [body]), ("event.tlog-proof", [proof.encode()])]
    formats = "tlog-proof, tlog-checkpoint, signed-note"
    return b"".join(zipped([*files, *_companions(about=ABOUT_EVENT, formats=formats)]))


def bundle(first: int, end: int) -> bytes:
    """Return the entries of the public log for leaves *first* up to and excluding *end*, each
    preceded by its length (two bytes, big-endian). Raises Unproven where an event is missing:
    exports must be complete.
    """
    return _bundle(first, end, ENTRIES, [first, end])


def _bundle(first: int, end: int, query: str, arguments: list[Any]) -> bytes:
    with connection.cursor() as cursor:
        cursor.execute(query, arguments)
        entries = {leaf: bytes(entry) for leaf, entry in cursor.fetchall()}
    for leaf in range(first, end):
        if leaf not in entries:
            raise Unproven(f"the event of leaf {leaf} is missing")
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries.values())


def _log(chosen: Part, *, personal: bool) -> Files:
    last = chosen.checkpoint
    earlier = _earlier(chosen)
    whole = (chosen.first, chosen.end) == (0, last.size)
    about = ABOUT_LOG.format(
        origin=last.note.partition("\n")[0],
        part="whole" if whole else f"leaves {chosen.first} to {chosen.end - 1} of it",
        size=last.size,
    )
    yield from _companions(
        about=about,
        formats="tlog-tiles, tlog-checkpoint, signed-note",
        part="" if whole else f" --from {chosen.first} --to {chosen.end}",
        personal=WITH_PERSONAL if personal else "",
    )
    yield "checkpoint", [last.note.encode()]
    yield from ((f"checkpoints/{each.size}", [each.note.encode()]) for each in earlier)
    for level in range(8):
        of_part = {*chosen.tiles, *(each.size // WIDTH for each in (*earlier, last))}
        for number, hashes in _tiles(level, last.size):
            if level or number in of_part:
                yield tile_path(level, number, len(hashes) // HASH), [hashes]
    for number in chosen.tiles:
        first, end = number * WIDTH, min((number + 1) * WIDTH, last.size)
        yield tile_path("entries", number, end - first), [bundle(first, end)]
        yield events_path(number, end - first), [_bundle(first, end, EVENTS, [UNSALTED, first, end])]
    if personal:
        yield "personal", _personal(chosen)


def _companions(*, about: str, formats: str, part: str = "", personal: str = "") -> list[tuple[str, list[bytes]]]:
    """Return the files that every export contains: README, script and keys. *part* is what the
    script needs to know about a part of the log.
    """
    vkeys = "".join(f"{key.vkey}\n" for key in checkpoints.trusted_keys())
    return [
        ("README.txt", [README.format(about=about, formats=formats, part=part, personal=personal).encode()]),
        ("verify.py", [Path(verify.__file__).read_bytes()]),
        ("keys", [vkeys.encode()]),
    ]


def _earlier(chosen: Part) -> list[Checkpoint]:
    """Return the earlier checkpoints that bound the time of the part's leaves: those within it, the
    one before it and the one after it.
    """
    below = Checkpoint.objects.filter(size__lt=chosen.checkpoint.size)
    before = below.filter(size__lte=chosen.first).order_by("-size")[: checkpoints.FEW]
    after = below.filter(size__gte=chosen.end).order_by("size")[: checkpoints.FEW]
    within = below.filter(size__gt=chosen.first, size__lt=chosen.end).order_by("size")
    first, middle, end = (checkpoints.counting(rows) for rows in (before, within, after))
    return [*islice(first, 1), *middle, *islice(end, 1)]


def _tiles(level: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number and hashes of each tile of a level, cut to a tree of *size* leaves."""
    hashes = size >> 8 * level
    stored = Tile.objects.filter(level=level, number__lt=-(-hashes // WIDTH)).order_by("number")
    for number, tile in stored.values_list("number", "hashes").iterator():
        yield number, bytes(tile)[: min(hashes - number * WIDTH, WIDTH) * HASH]


def _personal(chosen: Part) -> Iterator[bytes]:
    for number in chosen.tiles:
        with connection.cursor() as cursor:
            cursor.execute(PERSONAL, [number * WIDTH, min((number + 1) * WIDTH, chosen.end)])
            for leaf, field, salt, value in cursor.fetchall():
                yield json.dumps([leaf, field, bytes(salt).hex(), value], ensure_ascii=False).encode() + b"\n"


class _Outlet(io.RawIOBase):
    """Write-only buffer that hands over its content; ZIP writing does not need to seek."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._waiting += data
        return len(data)

    def take(self) -> bytes:
        """Return and clear what was written since the last call."""
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken


def zipped(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a ZIP of *files* (name, chunks of content) while it is written, without memory for the whole archive."""
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in files:
            with archive.open(name, "w") as file:
                for piece in pieces:
                    file.write(piece)
                    if taken := outlet.take():
                        yield taken
    yield outlet.take()
