"""The whole log against itself and against what lies outside the database: every event, leaf, tile and checkpoint, the
signer's memory, and checkpoints that somebody kept.

What the database says of keys counts for nothing; the caller says which to believe. All questions are asked in one
transaction that sees one state, so that the house may go on meanwhile.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from audit import models
from audit.findings import Finding
from audit.rehashing import BATCH, Rehashing
from audit.tiles import StoredTiles
from audit.verify import HASH, WIDTH, Checkpoint, Key, Times, Tree, Unproven, decoded, root_from, root_of, split

Progress = Callable[[int, int], None]
"""Is told how many leaves are done, and of how many."""

# Leaves are found by nested loops over indexes, whatever the planner knows of a table that has just grown.
ONE_STATE: Final = """
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off
"""
TWICE: Final = "SELECT event_id, min(leaf), max(leaf) FROM audit_leaf GROUP BY event_id HAVING count(*) > 1"
SEALED_AND_WAITS: Final = """
    SELECT pending.event_id, leaf.leaf FROM audit_pending AS pending JOIN audit_leaf AS leaf USING (event_id)
"""
LEVELS: Final = 8


@dataclass(frozen=True)
class Outside:
    """What lies where the database's owner cannot reach: the folder of the signer, None where nobody here may read it,
    and signed notes by the names of the files they were kept in.
    """

    signer: Path | None
    kept: Mapping[str, str]


def check(keys: Sequence[Key], outside: Outside, *, first: int = 0, progress: Progress) -> Iterator[Finding]:
    """Yield whatever is wrong with the log. Only events from leaf *first* on are hashed again; all else is checked
    whole.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ONE_STATE)
        yield from _check(cursor, keys, outside, first // WIDTH * WIDTH, progress)


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether a signature is one, as `audit.verify.is_signed` does, a hundred times as fast."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _check(
    cursor: CursorWrapper, keys: Sequence[Key], outside: Outside, first: int, progress: Progress
) -> Iterator[Finding]:
    log = _Log(cursor, keys)
    yield from log.tiles()
    yield from log.checkpoints()
    if outside.signer:
        yield from log.signer(outside.signer)
    for name, note in outside.kept.items():
        yield from log.kept(name, note)
    events = Rehashing(cursor, Times(log.signed))
    for begin in range(first, log.size, BATCH):
        end = min(begin + BATCH, log.size)
        yield from events.leaves(begin, end)
        progress(end, log.size)
    yield from _twice(cursor)
    yield from events.waiting()


def _twice(cursor: CursorWrapper) -> Iterator[Finding]:
    cursor.execute(TWICE)
    for event, leaf, again in cursor.fetchall():
        yield Finding(f"it is leaf {again} as well", "a leaf was put in past the sealer", event, leaf)
    cursor.execute(SEALED_AND_WAITS)
    for event, leaf in cursor.fetchall():
        yield Finding("it waits to be sealed", "it was put into the queue again and would be sealed twice", event, leaf)


class _Log:
    """The tree as its tiles have it, and whatever was signed over it."""

    def __init__(self, cursor: CursorWrapper, keys: Sequence[Key]) -> None:
        self._cursor, self._keys, self._stored = cursor, keys, StoredTiles()
        cursor.execute("SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf")
        (self._leaves,) = cursor.fetchone()
        cursor.execute(
            "SELECT coalesce(max(256 * number + octet_length(hashes) / 32), 0) FROM audit_tile WHERE level = 0"
        )
        (self._tiled,) = cursor.fetchone()
        self.size: int = max(self._leaves, self._tiled)
        self.signed: list[Checkpoint] = []

    def tiles(self) -> Iterator[Finding]:
        """Check that the tiles are those of one tree over all leaves."""
        below: list[bytes] = []
        for level in range(LEVELS):
            hashes = self._tiled >> 8 * level
            led, below = below, [b""] * (hashes // WIDTH)
            due = [min(WIDTH, hashes - begin) for begin in range(0, hashes, WIDTH)]
            rows = models.Tile.objects.filter(level=level).order_by("number").values_list("number", "hashes")
            there = set()
            for number, tile in rows.iterator():
                there.add(number)
                hashes_of_tile = split(bytes(tile))
                yield from _lengths(level, number, len(hashes_of_tile), due[number] if number < len(due) else 0)
                if level:
                    yield from _follow(level, number, hashes_of_tile, led[number * WIDTH :])
                if len(hashes_of_tile) == WIDTH and number < len(below):
                    below[number] = root_of(hashes_of_tile)
            for number in sorted(set(range(len(due))) - there):
                name = f"tile {number} of level {level}"
                yield Finding(f"{name} is not there", "it was taken out", leaf=_leaf(level, number))

    def checkpoints(self) -> Iterator[Finding]:
        """Check every checkpoint that the database keeps: its signatures, its columns, its tree."""
        for row in models.Checkpoint.objects.order_by("size").iterator():
            name = f"the checkpoint of {row.size} leaves"
            signed = self._opened(row.note)
            if isinstance(signed, Unproven):
                yield Finding(f"{name} is not signed as it should be: {signed}", "it proves nothing", leaf=row.size - 1)
                continue
            self.signed.append(signed)
            at = datetime.fromtimestamp(signed.seconds, UTC) if signed.seconds is not None else None
            said = {"size": signed.tree.size, "root": signed.tree.root, "at": at}
            for field, stands in (("size", row.size), ("root", bytes(row.root)), ("at", row.at)):
                if said[field] != stands:
                    yield Finding(f"{name} has {stands!r} in its row", f"its note says {said[field]!r}", field=field)
            yield from self._agrees(signed.tree, name)

    def signer(self, folder: Path) -> Iterator[Finding]:
        """Check the signer's memory: the last tree that it signed, and all the trees before."""
        note = (folder / "latest").read_text("utf-8")
        if note:
            yield from self.kept("latest of the signer", note)
        for line in (folder / "history").read_text("utf-8").splitlines():
            size, root, _ = line.split(" ")
            yield from self._agrees(Tree("", int(size), decoded(root, HASH)), f"the signer's history of {size} leaves")

    def kept(self, name: str, note: str) -> Iterator[Finding]:
        """Check a checkpoint that was kept outside."""
        signed = self._opened(note)
        if isinstance(signed, Unproven):
            yield Finding(f"{name} is not signed as it should be: {signed}", "it proves nothing")
        else:
            yield from self._agrees(signed.tree, name)

    def _opened(self, note: str) -> Checkpoint | Unproven:
        try:
            return Checkpoint.of(note, self._keys, is_signed)
        except Unproven as wrong:
            return wrong

    def _agrees(self, tree: Tree, name: str) -> Iterator[Finding]:
        """Check that this log begins with a tree that was signed, which *name* speaks of."""
        if tree.size > self._leaves:
            yield Finding(
                f"the log has {self._leaves} leaves, and {name} speaks of {tree.size}",
                "this is an older state of it, or leaves were taken out at its end",
                leaf=self._leaves,
            )
            return
        try:
            found = root_from(lambda level, number: split(self._stored.read(level, number)), tree.size)
        except Unproven as lacking:
            yield Finding(f"{lacking}", f"{name} cannot be compared with the log", leaf=tree.size - 1)
            return
        if found != tree.root:
            yield Finding(
                f"the root over {tree.size} leaves is {found.hex()}",
                f"{name} has {tree.root.hex()}: there are two histories",
                leaf=tree.size - 1,
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
                f"tile {number} of level {level} says {hashed.hex()} of tile {place} below it",
                f"that one leads to {led.hex() or 'nothing'}: one of the two was changed",
                leaf=_leaf(level - 1, place),
            )


def _leaf(level: int, number: int) -> int:
    """Return the first leaf under a tile."""
    return number * WIDTH ** (level + 1)
