"""Verification of every event against its leaf, its columns and its personal values, at more than a
hundred thousand per second.

PostgreSQL computes the first and last bytes of each event's body from its columns, so that
comparing bytes is enough; only events that differ are parsed. PostgreSQL computes one batch while
Python hashes the previous one.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import psycopg
from django.db.backends.utils import CursorWrapper

from audit.verification.verify import HASH, SALT, UNREADABLE, WIDTH, Times, entry_of, leaf_hash, plain


@dataclass(frozen=True)
class Finding:
    """A discrepancy: *found* is what was found, *follows* what it contradicts. The event, leaf and
    field say where, if it concerns a single one.
    """

    found: str
    follows: str
    event: int | None = None
    leaf: int | None = None
    field: str = ""

    def __str__(self) -> str:
        where = [
            f"event {self.event}" if self.event is not None else "",
            f"leaf {self.leaf}" if self.leaf is not None else "",
            self.field,
        ]
        place = ", ".join(filter(None, where))
        return plain(f"{place + ': ' if place else ''}{self.found}; {self.follows}.")


BATCH: Final = 256 * WIDTH  # leaves

# to_json escapes text exactly as audit.log.canonical does.
FRAME: Final = """
    convert_to('{"at":"' || coalesce(to_char(event.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'infinity')
        || '","by":' || to_json(event.by) || ',"data":', 'UTF8') AS begins,
    convert_to(',"kind":' || to_json(event.kind) || ',"on":' || to_json(event."on") || '}', 'UTF8') AS ends,
    event.body, event.salt
"""
# One row per tile, with its leaves in arrays: a row per leaf would cost more than hashing it. Each
# tile is a separate lookup, so that the first arrives before the last is read and nothing is
# sorted.
LEAVES: Final = f"""
    SELECT tile.* FROM generate_series(%s::bigint, %s::bigint - 1, {WIDTH}) AS first, LATERAL (
        SELECT array_agg(leaf), array_agg(event_id), array_agg(begins), array_agg(ends), array_agg(body),
            array_agg(salt)
        FROM (SELECT leaf.leaf, leaf.event_id, {FRAME}
              FROM audit_leaf AS leaf LEFT JOIN audit_event AS event ON event.id = leaf.event_id
              WHERE leaf.leaf >= first AND leaf.leaf < least(first + {WIDTH}, %s) ORDER BY leaf.leaf) AS row
        HAVING count(*) > 0
    ) AS tile
"""  # noqa: S608  (no value of anybody's)
# A merge join of two indexes finds events without a leaf without reading rows of either table.
SIDE_BY_SIDE: Final = "SET LOCAL enable_mergejoin = on"
WAITING: Final = f"""
    WITH unsealed AS MATERIALIZED (
        SELECT event.id FROM audit_event AS event LEFT JOIN audit_leaf AS leaf ON leaf.event_id = event.id
        WHERE leaf.event_id IS NULL
    )
    SELECT event.id, pending.event_id IS NOT NULL, {FRAME}
    FROM unsealed JOIN audit_event AS event USING (id) LEFT JOIN audit_pending AS pending ON pending.event_id = event.id
    ORDER BY event.id
"""  # noqa: S608  (no value of anybody's)
PERSONAL: Final = """
    SELECT leaf.event_id, personal.field, personal.salt, personal.value
    FROM audit_leaf AS leaf JOIN audit_personal AS personal ON personal.event_id = leaf.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s
"""
PERSONAL_WAITING: Final = """
    SELECT personal.event_id, personal.field, personal.salt, personal.value
    FROM audit_personal AS personal LEFT JOIN audit_leaf AS leaf ON leaf.event_id = personal.event_id
    WHERE leaf.event_id IS NULL
"""
TILES: Final = "SELECT number, hashes FROM audit_tile WHERE level = 0 AND number >= %s AND number < %s"
RECORDS: Final = """
    SELECT id, body FROM audit_event WHERE kind IN ('personal.erased', 'personal.expired') ORDER BY id
"""

Values = list[tuple[str, bytes, str]]
"""The personal values of an event: field, salt, value."""


@dataclass(frozen=True)
class Gone:
    """A recorded erasure of personal values: of these *fields* (None: all), in events *before* a time."""

    number: int
    before: str
    fields: frozenset[str] | None

    def covers(self, at: str, field: str) -> bool:
        """Return whether this erasure explains that the value of an event at that time is gone."""
        return at < self.before and (self.fields is None or field in self.fields)


class Records:
    """Erasures and expiries of personal values that the log records. Only records by the system
    count, and only for earlier events: otherwise anyone who can have an event written could justify
    a removal.
    """

    def __init__(self, cursor: CursorWrapper) -> None:
        self._erased: dict[str, list[Gone]] = {}
        self._expired: list[Gone] = []
        self.wrong: list[Finding] = []
        cursor.execute(RECORDS)
        for number, body in cursor.fetchall():
            try:
                self._take(number, json.loads(bytes(body)))
            except (*UNREADABLE, LookupError, TypeError, AttributeError):
                why = "it does not name the personal values that were erased, so it covers none"
                self.wrong.append(Finding("its body is not a record of an erasure", why, number, field="body"))

    def _take(self, number: int, event: Mapping[str, Any]) -> None:
        """Parse a record. Raises LookupError, TypeError or ValueError."""
        at, data = str.strip(event["at"]), event["data"]
        if event["by"] != "system":
            return
        if event["kind"] == "personal.erased":
            fields = frozenset(data["fields"]) if "fields" in data else None  # the earliest records name no fields
            self._erased.setdefault(event["on"], []).append(Gone(number, at, fields))
        elif event["kind"] == "personal.expired":
            before, days = data["before"], timedelta(days=data["days"])
            if days > timedelta(0) and _time(before) <= _time(at) - days:
                self._expired.append(Gone(number, before, frozenset(data["fields"])))

    def account_for(self, number: int, event: Mapping[str, str], field: str) -> bool:
        """Return whether a record explains a missing value: its person was erased later, or its
        retention time ended.
        """
        erased = [*self._erased.get(event["on"], ()), *self._erased.get(event["by"], ())]
        return any(each.number > number and each.covers(event["at"], field) for each in erased) or any(
            each.covers(event["at"], field) for each in self._expired
        )


def _time(text: str) -> datetime:
    """Parse a time as events write it. Raises ValueError or TypeError."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")


class Rehashing:
    """Verification of all events, in the transaction of *cursor*."""

    def __init__(self, cursor: CursorWrapper, times: Times) -> None:
        self._cursor, self._times, self._records = cursor, times, Records(cursor)

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Check the leaves *first* (the start of a tile) up to and excluding *end*."""
        hashes = self._tiles(first // WIDTH, -(-end // WIDTH))
        personal = self._personal(PERSONAL, [first, end])
        due = first
        rows = psycopg.Cursor(self._cursor.connection)
        for leaves, numbers, *written in rows.stream(LEAVES, [first, end, end], binary=True):
            at = (leaves[0] - first) * HASH
            plain = leaves == list(range(due, due + len(leaves))) and self._are_plain(leaves, written, hashes, at)
            due, begin = leaves[-1] + 1, due
            for leaf, number, begins, ends, body, salt in zip(leaves, numbers, *written, strict=True):
                if not plain:
                    yield from _missing(begin, leaf)
                    begin = leaf + 1
                    if body is None:
                        yield Finding("the event is missing", "it was removed after it was sealed", number, leaf)
                        continue
                    yield from self._sealed(leaf, number, begins, entry_of(body, salt or b""), hashes, first)
                if not body.endswith(ends) or not body.startswith(begins):
                    yield from self._columns(number, leaf, begins, ends, body, personal.pop(number, []))
                elif number in personal:
                    yield from self._columns(number, leaf, begins, ends, body, personal.pop(number))
        yield from _missing(due, end)

    def _are_plain(self, leaves: list[int], written: list[list[bytes]], hashes: bytes, at: int) -> bool:
        """Return whether the events of consecutive leaves match their hashes and have plausible dates."""
        all_begin, _, bodies, salts = written
        earliest, latest = self._times.of(leaves[0])
        if None in bodies or self._times.of(leaves[-1]) != (earliest, latest):
            return False
        times = [begins[7:34] for begins in all_begin]
        found = b"".join(
            [sha256(b"\0" + entry_of(body, salt or b"")).digest() for body, salt in zip(bodies, salts, strict=True)]
        )
        return earliest.encode() <= min(times) and max(times) <= latest.encode() and hashes.startswith(found, at)

    def _sealed(
        self, leaf: int, number: int, begins: bytes, entry: bytes, hashes: bytes, first: int
    ) -> Iterator[Finding]:
        """Check that the entry of an event matches the hash of its leaf, and that it has a plausible date."""
        at = (leaf - first) * HASH
        found, due = leaf_hash(entry), hashes[at : at + HASH]
        if found != due:
            yield _changed(number, leaf, found, due, hashes, first)
        earliest, latest = self._times.of(leaf)
        time = begins[7:34].decode(errors="replace")
        if not earliest <= time <= latest:
            between = f"it was sealed as an event written between {earliest or 'the beginning'} and {latest}"
            yield Finding(f"its time is {time}", between, number, leaf, "at")

    def waiting(self) -> Iterator[Finding]:
        """Check events without a leaf, personal values without an event, and the records of erasures."""
        yield from self._records.wrong
        personal = self._personal(PERSONAL_WAITING, [])
        self._cursor.execute(SIDE_BY_SIDE)
        self._cursor.execute(WAITING)
        for number, waits, begins, ends, body, _salt in self._cursor.fetchall():
            if not waits:
                yield Finding(
                    "it is neither a leaf nor waiting to become one", "it was not written by audit_record", number
                )
            yield from self._columns(number, None, bytes(begins), bytes(ends), bytes(body), personal.pop(number, []))
        for number, values in personal.items():
            for field, _, _ in values:
                yield Finding("a personal value has no event", "its event was removed", number, field=field)

    def _tiles(self, first: int, end: int) -> bytes:
        """Return the leaf hashes, concatenated; missing ones are replaced by zero bytes, which match no hash."""
        self._cursor.execute(TILES, [first, end])
        tiles = {number: bytes(hashes) for number, hashes in self._cursor.fetchall()}
        return b"".join(tiles.get(number, b"").ljust(WIDTH * HASH, b"\0") for number in range(first, end))

    def _personal(self, query: str, arguments: list[int]) -> dict[int, Values]:
        found: dict[int, Values] = {}
        self._cursor.execute(query, arguments)
        for number, name, salt, value in self._cursor.fetchall():
            found.setdefault(number, []).append((name, bytes(salt), value))
        return found

    def _columns(
        self, number: int, leaf: int | None, begins: bytes, ends: bytes, body: bytes, values: Values
    ) -> Iterator[Finding]:
        """Parse an event and compare its columns and personal values with its body."""
        try:
            event = json.loads(body)
            row = json.loads(begins + b"0" + ends)
            said = {name: event[name] for name in ("at", "by", "kind", "on")}
            hashed = dict(event.get("personal", {}))
            if not all(isinstance(text, str) for text in said.values()):
                raise TypeError
        except (*UNREADABLE, LookupError, TypeError, AttributeError):
            yield Finding("its body is not an event", "it was not written by audit_record", number, leaf, "body")
            return
        for name, text in said.items():
            if row[name] != text:
                yield Finding(f"the row has {row[name]}", f"the event says {text}", number, leaf, name)
        for name, salt, value in values:
            due = hashed.pop(name, None)
            if len(salt) != SALT or sha256(salt + value.encode()).hexdigest() != due:
                what = "a different personal value was recorded" if due else "the event has no such personal value"
                yield Finding("the stored personal value was changed or inserted", what, number, leaf, name)
        for name in hashed:
            if not self._records.account_for(number, said, name):
                yield Finding(
                    "its personal value is missing",
                    "no record says that it was erased or has expired",
                    number,
                    leaf,
                    name,
                )


def _missing(due: int, leaf: int) -> Iterator[Finding]:
    """Report missing leaves from *due* up to and excluding *leaf*, if there are any."""
    if due < leaf:
        yield Finding(f"leaves {due} to {leaf - 1} are missing", f"{leaf - due} events were removed", leaf=due)


def _changed(number: int, leaf: int, found: bytes, due: bytes, hashes: bytes, first: int) -> Finding:
    """Return a finding about an event that does not match the hash of its leaf."""
    place = next((at for at in range(0, len(hashes), HASH) if hashes[at : at + HASH] == found), None)
    if not any(due):
        return Finding(
            "the tiles have no hash for it", "it was inserted without the sealer, or tiles are lost", number, leaf
        )
    if place is not None:
        return Finding(f"the event of leaf {first + place // HASH} is here", "the order was changed", number, leaf)
    return Finding(
        f"its body and salt hash to {found.hex()}",
        f"what was sealed hashes to {due.hex()}: one of them was changed",
        number,
        leaf,
        "body",
    )
