"""Verification of the whole event log: every event, leaf, tile and checkpoint, against each other
and against the signer's history and checkpoints kept outside the database.

Keys stored in the database are not trusted; the caller gives the keys to trust. All queries run in
one transaction with one snapshot, so that writing can continue.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from audit import models
from audit.models import Tile
from audit.verification.verify import (
    LOG,
    WIDTH,
    Checkpoint,
    Key,
    Times,
    Tree,
    Unproven,
    read,
    root_from,
    root_of,
    split,
)
from audit.verification.verify_events import BATCH, Finding, Rehashing


class StoredTiles:
    """Reads tiles from `audit_tile`, each once. Use a new instance for each operation: a tile that
    has grown is not read again.
    """

    def __init__(self) -> None:
        self._read: dict[tuple[int, int], bytes] = {}

    def read(self, level: int, number: int) -> bytes:
        """Return the hashes of a tile, concatenated; empty where there is no such tile."""
        if (level, number) not in self._read:
            found = Tile.objects.filter(level=level, number=number).values_list("hashes", flat=True).first()
            self._read[level, number] = bytes(found or b"")
        return self._read[level, number]


MOST_READS: Final = 3  # maximum attempts to read both files in a consistent state

Signed = tuple[int, bytes]
"""A signed tree: number of leaves, and root."""


@dataclass(frozen=True)
class Memory:
    """The signer's files: the note in ``latest``, "" before the first signature, and the lines of ``history``."""

    latest: str
    lines: list[bytes]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read both files while the signer may be writing. Raises OSError; Unproven or
        UnicodeDecodeError where ``latest`` is not valid text.
        """
        latest = read(folder / "latest")
        for _ in range(MOST_READS):
            lines = history(folder)
            before, latest = latest, read(folder / "latest")
            if latest == before:
                break
        return cls(latest, lines)

    def trees(self) -> Iterator[Signed | Finding | str]:
        """Yield the trees of the history, and a finding for each invalid line. A line that is only
        the beginning of the next one gives a remark: the signer was stopped while writing it, and
        wrote it again.
        """
        for number, line in enumerate(self.lines, 1):
            tree = signed(line)
            after = self.lines[number] if number < len(self.lines) else self._due()
            if tree:
                yield tree
            elif line and after.startswith(line):
                yield f"Line {number} of the signer's history was broken off, and is repeated."
            else:
                yield Finding(
                    f"line {number} of the signer's history is {line[:80]!r}", "it holds leaves, their root and a time"
                )

    def _due(self) -> bytes:
        """Return how the line of the last tree begins: only that one can be incomplete at the end of the history."""
        return b" ".join(self.latest.encode().split(b"\n")[1:3]) + b" "


def history(folder: Path) -> list[bytes]:
    """Return the lines of the history, unparsed. Raises OSError."""
    content = (folder / "history").read_bytes()
    return content.removesuffix(b"\n").split(b"\n") if content else []


def signed(line: bytes) -> Signed | None:
    """Parse a line of the history; None where it is invalid."""
    try:
        size, root, at = line.decode("ascii").split(" ")
        tree = Tree.of(f"-\n{size}\n{root}\n")
    except (Unproven, ValueError):
        return None
    return (tree.size, tree.root) if at.isdecimal() else None


Progress = Callable[[int, int], object]
"""Called with the number of leaves done and their total."""

# Leaves are joined by nested loops over indexes, because the planner's statistics of a growing
# table are stale. The transaction only reads, so it is exempt from the transaction timeout.
ONE_STATE: Final = """
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL transaction_timeout = 0;
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off
"""
# An index-only scan can answer which events they are.
TWICE: Final = """
    SELECT event_id, min(leaf), max(leaf) FROM audit_leaf
    WHERE event_id IN (SELECT event_id FROM audit_leaf GROUP BY event_id HAVING count(*) > 1) GROUP BY event_id
"""
SEALED_AND_WAITS: Final = """
    SELECT pending.event_id, leaf.leaf FROM audit_pending AS pending JOIN audit_leaf AS leaf USING (event_id)
"""
UNCOVERED: Final = """
    SELECT min(event.at)::text, extract(epoch FROM clock_timestamp() - min(event.at))
    FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id WHERE leaf.leaf >= %s
"""
# Leaves and hashes match one to one, so a number beyond their sum cannot be real. Such rows are
# ignored in the totals and reported separately.
ROWS: Final = """
    SELECT (SELECT count(*) FROM audit_leaf) + coalesce(sum(octet_length(hashes) / 32), 0)::bigint
    FROM audit_tile WHERE level = 0
"""
LEAVES: Final = "SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf WHERE leaf >= 0 AND leaf < %s"
TILED: Final = """
    SELECT coalesce(max(256 * number + octet_length(hashes) / 32), 0) FROM audit_tile
    WHERE level = 0 AND number >= 0 AND number < %s
"""
MADE_UP_LEAVES: Final = "SELECT leaf, event_id FROM audit_leaf WHERE leaf < 0 OR leaf >= %s ORDER BY leaf"
LEVELS: Final = 8


@dataclass(frozen=True)
class Outside:
    """Evidence outside the database: the signer's folder (None where it cannot be read here), and
    checkpoints (signed notes) by the name of the file they were kept in.
    """

    signer: Path | None
    checkpoints: Mapping[str, str]


@dataclass
class Done:
    """Totals of a check: *leaves* in the log, events *hashed* again, leaves *covered* by signed
    checkpoints, and signed *checkpoints* in the database. *remarks* are oddities that are not
    errors.
    """

    leaves: int = 0
    hashed: int = 0
    covered: int = 0
    checkpoints: int = 0
    remarks: list[str] = field(default_factory=list)


class Uncovered(Finding):
    """Leaves that no signed checkpoint covers: nothing was changed, but nothing proves it."""


class Unsigned(Finding):
    """A row among the checkpoints that proves nothing. Web and workers can insert one, and nobody can remove it."""


class OutOfRange(Exception):
    """The first leaf to check does not exist."""


def check(
    keys: Sequence[Key], outside: Outside, *, first: int = 0, progress: Progress, done: Done
) -> Iterator[Finding]:
    """Yield everything that is wrong with the log, and write the totals to *done*. Only events from
    leaf *first* on are hashed again; everything else is checked in full.

    Raises OutOfRange; OSError where the signer's folder cannot be read; UnicodeDecodeError or
    Unproven where its last checkpoint is not valid text.
    """
    # read before the snapshot, so that the database knows everything in it
    memory = Memory.read(outside.signer) if outside.signer else None
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ONE_STATE)
        log = _Log(cursor, keys, done)
        if first and not 0 <= first < log.size:
            raise OutOfRange(f"there is no leaf {first} among {log.size}")
        yield from log.tiles()
        yield from log.checkpoints()
        if outside.signer and memory:
            yield from log.memory(memory, history(outside.signer))
        for name, note in outside.checkpoints.items():
            yield from log.check_outside(name, note)
        yield from log.uncovered()
        events = Rehashing(cursor, Times(log.signed))
        for begin in range(first // WIDTH * WIDTH, log.size, BATCH):
            end = min(begin + BATCH, log.size)
            yield from events.leaves(begin, end)
            done.hashed += end - begin
            progress(end, log.size)
        yield from _twice(cursor)
        yield from events.waiting()


def origin(keys: Sequence[Key]) -> str:
    """Return the name of the log, which is the name of its key; "" without one."""
    return next((key.name for key in keys if key.kind == LOG), "")


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether a signature is valid. Same as `audit.verification.verify.is_signed`, a hundred times faster."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _twice(cursor: CursorWrapper) -> Iterator[Finding]:
    cursor.execute(TWICE)
    for event, leaf, again in cursor.fetchall():
        yield Finding(f"it is also leaf {again}", "a leaf was inserted without the sealer", event, leaf)
    cursor.execute(SEALED_AND_WAITS)
    for event, leaf in cursor.fetchall():
        yield Finding("it is waiting to be sealed", "it was queued again and would be sealed twice", event, leaf)


class _Log:
    """The tree as stored in tiles, and the checkpoints signed over it."""

    def __init__(self, cursor: CursorWrapper, keys: Sequence[Key], done: Done) -> None:
        self._cursor, self._keys, self._stored, self._done = cursor, keys, StoredTiles(), done
        self._most = self._number(ROWS)
        self._leaves = self._number(LEAVES, self._most)
        self._tiled = self._number(TILED, self._rows(0))
        self.size = done.leaves = max(self._leaves, self._tiled)
        self.signed: list[Checkpoint] = []

    def _number(self, query: str, *arguments: int) -> int:
        self._cursor.execute(query, arguments)
        (number,) = self._cursor.fetchone()
        return int(number)

    def _rows(self, level: int) -> int:
        """Return the highest possible number of tiles on a level, given the number of rows."""
        return -(-(self._most >> 8 * level) // WIDTH)

    def tiles(self) -> Iterator[Finding]:
        """Check that the tiles form one tree over all leaves."""
        yield from self._made_up()
        below: list[bytes] = []
        for level in range(LEVELS):
            hashes = self._tiled >> 8 * level
            led, below = below, [b""] * (hashes // WIDTH)
            due = [min(WIDTH, hashes - begin) for begin in range(0, hashes, WIDTH)]
            rows = models.Tile.objects.filter(level=level, number__gte=0, number__lt=self._rows(level))
            rows = rows.order_by("number")
            there = set()
            for number, tile in rows.values_list("number", "hashes").iterator():
                there.add(number)
                hashes_of_tile = split(bytes(tile))
                yield from _lengths(level, number, len(hashes_of_tile), due[number] if number < len(due) else 0)
                if level:
                    yield from _follow(level, number, hashes_of_tile, led[number * WIDTH :])
                if len(hashes_of_tile) == WIDTH and number < len(below):
                    below[number] = root_of(hashes_of_tile)
            for number in sorted(set(range(len(due))) - there):
                name = f"tile {number} of level {level}"
                yield Finding(f"{name} is missing", "it was removed", leaf=_leaf(level, number))

    def _made_up(self) -> Iterator[Finding]:
        """Report leaves and tiles whose numbers are outside the tree."""
        self._cursor.execute(MADE_UP_LEAVES, [self._most])
        for leaf, event in self._cursor.fetchall():
            yield Finding("its number is outside the log", "it was inserted without the sealer", event, leaf)
        positions = models.Tile.objects.order_by("level", "number").values_list("level", "number")
        for level, number in positions.exclude(level__range=(0, LEVELS - 1)):
            yield Finding(f"tile {number} of level {level} exists", "no tree has such a level")
        for level in range(LEVELS):
            mine = positions.filter(level=level)
            for _, number in mine.filter(number__lt=0).union(mine.filter(number__gte=self._rows(level))):
                yield Finding(f"tile {number} of level {level} exists", "its number is outside the tree")

    def checkpoints(self) -> Iterator[Finding]:
        """Check every checkpoint in the database: its signatures, its columns and its tree."""
        for row in models.Checkpoint.objects.order_by("size").iterator():
            name = f"the checkpoint of {row.size} leaves"
            opened = self._opened(row.note)
            if isinstance(opened, Unproven):
                yield Unsigned(f"{name} is not signed correctly: {opened}", "it proves nothing", leaf=row.size - 1)
                continue
            self.signed.append(opened)
            at = datetime.fromtimestamp(opened.seconds, UTC) if opened.seconds is not None else None
            said = {"size": opened.tree.size, "root": opened.tree.root, "at": at}
            for column, stored in (("size", row.size), ("root", bytes(row.root)), ("at", row.at)):
                if said[column] != stored:
                    yield Unsigned(f"{name} has {stored!r} in its row", f"its note says {said[column]!r}", field=column)
            yield from self._agrees(opened.tree.size, opened.tree.root, name)

    def memory(self, memory: Memory, later: list[bytes]) -> Iterator[Finding]:
        """Check the signer's history: each tree against the log, and each against the checkpoints
        in the database with the same origin (a log that was started again also has those of the log
        before it). *memory* was read before the snapshot; *later* is the history read after it.
        """
        mine = origin(self._keys)
        there = {(each.tree.size, each.tree.root) for each in self.signed if each.tree.origin == mine}
        trees: list[Signed] = []
        for each in memory.trees():
            if isinstance(each, Finding):
                yield each
            elif isinstance(each, str):
                self._done.remarks.append(each)
            else:
                trees.append(each)
                yield from self._agrees(*each, f"the signer's history of {each[0]} leaves")
        for size, _ in [each for each in dict.fromkeys(trees[:-1]) if each not in there and each != trees[-1]]:
            name = f"the signer's history of {size} leaves"
            yield Finding(f"{name} is in no checkpoint", "its checkpoint was removed", leaf=size - 1)
        for size, _ in sorted(there - set(trees) - {signed(line) for line in later}):
            name = f"the checkpoint of {size} leaves"
            yield Finding(f"{name} is not in the signer's history", "the history was shortened", leaf=size - 1)
        yield from self._latest(memory.latest, trees, there)

    def _latest(self, note: str, trees: list[Signed], there: set[Signed]) -> Iterator[Finding]:
        """Check that the signer's last tree is the last in its history. A tree may be missing from
        the history only if the signer was stopped before it could answer, so that nobody else has
        it.
        """
        name, last = "latest of the signer", trees[-1] if trees else None
        if not note:
            if last:
                yield Finding(f"{name} is empty", f"its history ends with {last[0]} leaves")
            return
        yield from self.check_outside(name, note)
        latest = self._opened(note)
        if isinstance(latest, Unproven) or (latest.tree.size, latest.tree.root) == last:
            return
        if (latest.tree.size, latest.tree.root) not in there and latest.tree.size >= (last[0] if last else 0):
            self._done.remarks.append("The last tree that the signer signed is not in its history yet.")
        else:
            ends = f"its history ends with {last[0]} leaves" if last else "its history ends before it begins"
            yield Finding(f"{name} covers {latest.tree.size} leaves", ends)

    def uncovered(self) -> Iterator[Finding]:
        """Check that a signed checkpoint covers every leaf except the most recent ones."""
        self._done.checkpoints = len(self.signed)
        covered = max((each.tree.size for each in self.signed if each.tree.size <= self._leaves), default=0)
        self._done.covered = covered
        self._cursor.execute(UNCOVERED, [covered])
        since, seconds = self._cursor.fetchone()
        if since is None:
            return
        if not self.signed:
            yield Uncovered("there is no signed checkpoint", f"nothing proves the {self.size} leaves", leaf=0)
        elif seconds > settings.AUDIT_LAG_SECONDS:
            yield Uncovered(
                f"no signed checkpoint covers the leaves from here on, the oldest of {since}",
                "nothing proves them: checkpoints were removed, or the signer does not sign",
                leaf=covered,
            )

    def check_outside(self, name: str, note: str) -> Iterator[Finding]:
        """Check a checkpoint that was kept outside."""
        opened = self._opened(note)
        if isinstance(opened, Unproven):
            yield Finding(f"{name} is not signed correctly: {opened}", "it proves nothing")
        else:
            yield from self._agrees(opened.tree.size, opened.tree.root, name)

    def _opened(self, note: str) -> Checkpoint | Unproven:
        try:
            return Checkpoint.of(note, self._keys, is_signed)
        except Unproven as wrong:
            return wrong

    def _agrees(self, size: int, root: bytes, name: str) -> Iterator[Finding]:
        """Check that this log starts with the signed tree of *size* leaves; *name* describes the tree in findings."""
        if size > self._leaves:
            yield Finding(
                f"the log has {self._leaves} leaves, but {name} covers {size}",
                "the log is an older copy, or leaves were removed from its end",
                leaf=self._leaves,
            )
            return
        try:
            found = root_from(lambda level, number: split(self._stored.read(level, number)), size)
        except Unproven as lacking:
            yield Finding(f"{lacking}", f"{name} cannot be compared with the log", leaf=size - 1)
            return
        if found != root:
            yield Finding(
                f"the root over {size} leaves is {found.hex()}",
                f"{name} has {root.hex()}: there are two histories",
                leaf=size - 1,
            )


def _lengths(level: int, number: int, found: int, due: int) -> Iterator[Finding]:
    if found != due:
        name = f"tile {number} of level {level}"
        yield Finding(f"{name} holds {found} hashes", f"the tree has {due} there", leaf=_leaf(level, number))


def _follow(level: int, number: int, hashes: list[bytes], below: list[bytes]) -> Iterator[Finding]:
    """Check the hashes of a tile against the roots of the tiles below it."""
    for place, (hashed, led) in enumerate(zip(hashes, below, strict=False), number * WIDTH):
        if hashed != led:
            yield Finding(
                f"tile {number} of level {level} has {hashed.hex()} for tile {place} below it",
                f"that tile hashes to {led.hex() or 'nothing'}: one of the two was changed",
                leaf=_leaf(level - 1, place),
            )


def _leaf(level: int, number: int) -> int:
    """Return the first leaf under a tile."""
    return number * WIDTH ** (level + 1)
