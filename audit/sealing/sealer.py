"""The sealer: gives events their leaves, makes the tiles longer, and has the signer sign the tree.

PostgreSQL holds all there is to know, so that any worker may seal, twice at once or after a crash anywhere: leaves and
their hashes in tiles are one transaction, and a checkpoint that was signed and not kept is signed again.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.backends.utils import CursorWrapper

from audit import tree
from audit.models import Checkpoint
from audit.sealing import alarms, checkpoints, keys, signing
from audit.tree.tiles import StoredTiles
from audit.verification import verify
from audit.verification.verify import Tree, Unproven

logger = logging.getLogger(__name__)

BATCH: Final = 4096  # leaves of one transaction
MOST: Final = 16 * BATCH  # leaves of one call, so that a long queue keeps no worker for long
CLOCKS_APART: Final = timedelta(minutes=1)  # the signer's and the database's, at most

TILED = """
    SELECT 256 * number + octet_length(hashes) / 32 FROM audit_tile WHERE level = 0 ORDER BY number DESC LIMIT 1
"""
# PostgreSQL hashes, so that no event has to be read here; RFC 6962 puts a zero byte before an entry.
HASHES = r"""
    SELECT sha256('\x00'::bytea || event.body)
    FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s ORDER BY leaf.leaf
"""
WRITE = """
    INSERT INTO audit_tile (level, number, hashes) VALUES (%s, %s, %s)
    ON CONFLICT (level, number) DO UPDATE SET hashes = EXCLUDED.hashes
"""


@dataclass(frozen=True)
class Sealed:
    """How many leaves the tree has, and how many of them the last signed checkpoint covers."""

    size: int
    signed: int


def seal() -> Sealed:
    """Make leaves of what waits, at most `MOST` of them, and have the tree signed where it has grown.

    The tree is signed only when nothing is left waiting, so that a checkpoint is younger than no event that comes after
    it, but for those whose transactions were still open. Without the signer leaves are made all the same, and wait for
    a checkpoint. Where it refuses, that is recorded once and told to staff (`alarms.REFUSED`).
    """
    for _ in range(MOST // BATCH):
        before, size = _make_leaves()
        if size - before < BATCH:
            return Sealed(size, _sign(size))
    return Sealed(size, checkpoints.size())


def watch() -> None:
    """Record at once where the signer has signed more leaves than there are, as after an older copy of the database was
    put in place: the sealer asks it only when something new has happened.
    """
    try:
        signed = signing.last(Path(settings.AUDIT_SIGNER))
    except signing.SignerAway:
        return
    size = leaves()  # asked after the signer, which signs none that is not there
    if size < signed:
        reason = f"the log has {size} leaves, and a tree of {signed} was signed"
        alarms.begin(alarms.REFUSED, {"reason": reason, "size": size, "signed": checkpoints.size()})


def leaves() -> int:
    """Return how many leaves the tree has."""
    with connection.cursor() as cursor:
        return _tiled(cursor)


@transaction.atomic
def _make_leaves() -> tuple[int, int]:
    """Make a batch of leaves and put their hashes into tiles; return how many leaves the tiles had, and have."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_seal(%s)", [BATCH])  # from here on nobody else seals until this is committed
        before = _tiled(cursor)
        cursor.execute(HASHES, [before, before + BATCH])
        hashes = [bytes(each) for (each,) in cursor.fetchall()]
        grown = tree.extend(StoredTiles(), before, hashes)
        if grown:
            cursor.executemany(WRITE, [(level, number, tile) for (level, number), tile in grown.items()])
    return before, before + len(hashes)


def _tiled(cursor: CursorWrapper) -> int:
    """Return how many leaves have their hash in a tile."""
    cursor.execute(TILED)
    row = cursor.fetchone()
    return row[0] if row else 0


def _sign(size: int) -> int:
    """Have the tree signed unless it is; return how many leaves are under the last checkpoint. A row that is none has
    its place for good: it is told to staff, which is an event, so that the tree to be signed next is a larger one.
    """
    last, unsigned = checkpoints.size(), checkpoints.unsigned()
    if unsigned:
        logger.error("%s", unsigned.reason)
        alarms.begin(alarms.REFUSED, {"reason": unsigned.reason, "size": unsigned.size, "signed": last})
    if size <= max(last, unsigned.size if unsigned else 0):
        return last
    try:
        checkpoint = _checkpoint(size, last)
    except signing.SignerAway as away:
        logger.warning("no checkpoint over %s leaves: %s", size, away)
        return last
    except (signing.SignerRefused, Unproven) as refusal:
        logger.error("no checkpoint over %s leaves: %s", size, refusal)
        alarms.begin(alarms.REFUSED, {"reason": str(refusal), "size": size, "signed": last})
        return last
    with suppress(IntegrityError), transaction.atomic():  # another sealer may have kept the same, or a larger one
        checkpoint.save(force_insert=True)
    alarms.end(alarms.REFUSED, {"size": size})
    return size


def _checkpoint(size: int, last: int) -> Checkpoint:
    """Ask the signer. Raises SignerAway, SignerRefused, and Unproven where the tiles are not whole or the keys that the
    house believes have not signed, or at another time than it is.
    """
    believed = keys.known()
    origin = keys.origin(believed)
    if not origin:
        raise signing.SignerAway("no key of the log is known; the signer of a demo makes it when it starts")
    tiles = StoredTiles()
    asked = Tree(origin, size, tree.root(tiles, size))
    try:
        note = _note(asked, tiles, last)
    except signing.AnotherTreeWasLast as told:  # the one that was signed before a crash, or by another sealer just now
        if last < told.size < size:
            _keep_lost(told, tiles, believed)
        note = _note_after(asked, tiles, told.size)
    found = verify.Checkpoint.of(note, believed)
    if found.tree != asked or found.seconds is None:
        raise Unproven(f"the signer has signed another tree than that of {size} leaves")
    at = datetime.fromtimestamp(found.seconds, UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    if abs(now - at) > CLOCKS_APART:
        raise Unproven(f"the signer's clock says {at:%Y-%m-%d %H:%M:%S}, the database's {now:%Y-%m-%d %H:%M:%S} (UTC)")
    return Checkpoint(size=size, root=asked.root, at=at, note=note)


def _keep_lost(told: signing.AnotherTreeWasLast, tiles: tree.Tiles, believed: list[verify.Key]) -> None:
    """Keep the checkpoint that the signer signed last and the database lacks, where it is of this log: it was lost in a
    crash, and nobody else has it. Whether the signer goes on from it is the signer's to say.
    """
    with suppress(Unproven, IntegrityError), transaction.atomic():
        found = verify.Checkpoint.of(told.note, believed)
        if found.seconds is not None and found.tree.root == tree.root(tiles, found.tree.size):
            at = datetime.fromtimestamp(found.seconds, UTC)
            Checkpoint(size=found.tree.size, root=found.tree.root, at=at, note=told.note).save(force_insert=True)


def _note(asked: Tree, tiles: tree.Tiles, old: int) -> str:
    proof = tree.consistency_proof(tiles, old, asked.size) if old <= asked.size else []
    return signing.sign(Path(settings.AUDIT_SIGNER), asked, old=old, proof=proof)


def _note_after(asked: Tree, tiles: tree.Tiles, old: int) -> str:
    """Ask again, from the tree that the signer says was last. Where that is larger than the database's own, the signer
    is left to say that it refuses; larger than the one asked about, another sealer is ahead.
    """
    if asked.size < old <= leaves():
        raise signing.SignerAway(f"another sealer has had {old} leaves signed")
    try:
        return _note(asked, tiles, old)
    except signing.AnotherTreeWasLast as again:
        raise signing.SignerAway("another sealer is being answered") from again
