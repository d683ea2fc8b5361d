"""The sealer: assigns leaves to events, extends the tiles, and has the signer sign the tree.

All state is in PostgreSQL, so any worker can seal, even two at once or after a crash. Leaves and
their hashes in tiles are written in one transaction. A checkpoint that was signed and not saved is
signed again.
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
from audit.sealing import alarms, checkpoints, signing
from audit.verification import verify
from audit.verification.checking import StoredTiles, origin
from audit.verification.verify import Tree, Unproven

logger = logging.getLogger(__name__)

BATCH: Final = 4096  # leaves per transaction
MOST: Final = 16 * BATCH  # leaves per call, so that a long backlog does not occupy a worker
CLOCKS_APART: Final = timedelta(minutes=1)  # maximum difference between the signer's and the database's clock

TILED = """
    SELECT 256 * number + octet_length(hashes) / 32 FROM audit_tile WHERE level = 0 ORDER BY number DESC LIMIT 1
"""
# PostgreSQL hashes, so that events need not be read here. RFC 6962 puts a zero byte before an entry.
HASHES = r"""
    SELECT sha256('\x00'::bytea || audit_entry(event.body, event.salt))
    FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id
    WHERE leaf.leaf >= %s AND leaf.leaf < %s ORDER BY leaf.leaf
"""
WRITE = """
    INSERT INTO audit_tile (level, number, hashes) VALUES (%s, %s, %s)
    ON CONFLICT (level, number) DO UPDATE SET hashes = EXCLUDED.hashes
"""


@dataclass(frozen=True)
class Sealed:
    """Number of leaves in the tree, and how many of them the last signed checkpoint covers."""

    size: int
    signed: int


def seal() -> Sealed:
    """Assign leaves to pending events, at most `MOST`, and have the tree signed if it has grown.

    The tree is signed only when nothing is pending, so that every later event is younger than the
    checkpoint, except those whose transactions were still open. Without the signer, leaves are
    still assigned and wait for a checkpoint. If the signer refuses, that is recorded once and staff
    are notified (`alarms.REFUSED`).
    """
    for _ in range(MOST // BATCH):
        before, size = _make_leaves()
        if size - before < BATCH:
            return Sealed(size, _sign(size))
    return Sealed(size, checkpoints.size())


def check_signer() -> None:
    """Raise the alarm if the signer has signed more leaves than exist, as after an older copy of
    the database was restored. This check is needed because the sealer asks the signer only when
    there are new events.
    """
    try:
        signed = signing.last(Path(settings.AUDIT_SIGNER))
    except signing.SignerAway:
        return
    size = leaves()  # read after the signer, which signs only leaves that exist
    if size < signed:
        reason = f"the log has {size} leaves, and a tree of {signed} was signed"
        alarms.begin(alarms.REFUSED, {"reason": reason, "size": size, "signed": checkpoints.size()})


def leaves() -> int:
    """Return the number of leaves in the tree."""
    with connection.cursor() as cursor:
        return _tiled(cursor)


@transaction.atomic
def _make_leaves() -> tuple[int, int]:
    """Assign a batch of leaves and add their hashes to tiles; return the number of leaves in tiles
    before and after.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_seal(%s)", [BATCH])  # takes a lock: nobody else seals until commit
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
    """Have the tree signed unless it already is; return the number of leaves under the last
    checkpoint. An invalid row in the checkpoint table cannot be removed. It raises an alarm, which
    is an event itself, so the next tree to sign is larger. While the verification of the house finds
    that the log was altered, nothing is signed.
    """
    last, unsigned = checkpoints.size(), checkpoints.unsigned()
    if unsigned:
        logger.error("%s", unsigned.reason)
        alarms.begin(alarms.REFUSED, {"reason": unsigned.reason, "size": unsigned.size, "signed": last})
    if size <= max(last, unsigned.size if unsigned else 0) or alarms.begun(alarms.ALTERED):
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
    # another sealer may have saved the same checkpoint, or a larger one
    with suppress(IntegrityError), transaction.atomic():
        checkpoint.save(force_insert=True)
    alarms.end(alarms.REFUSED, {"size": size})
    return size


def _checkpoint(size: int, last: int) -> Checkpoint:
    """Request a checkpoint from the signer. Raises SignerAway and SignerRefused; Unproven where
    tiles are incomplete, the trusted keys have not signed, or the time of the signature is wrong.
    """
    believed = checkpoints.trusted_keys()
    log_name = origin(believed)
    if not log_name:
        raise signing.SignerAway("no key of the log is known; the signer of a demo makes it when it starts")
    tiles = StoredTiles()
    asked = Tree(log_name, size, tree.root(tiles, size))
    try:
        note = _note(asked, tiles, last)
    except signing.AnotherTreeWasLast as last_signed:  # signed before a crash, or for another sealer
        if last < last_signed.size < size:
            _keep_lost(last_signed, tiles, believed)
        note = _note_after(asked, tiles, last_signed.size)
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


def _keep_lost(last_signed: signing.AnotherTreeWasLast, tiles: tree.Tiles, believed: list[verify.Key]) -> None:
    """Save the signer's last checkpoint if the database lacks it and it belongs to this log: it was
    lost in a crash and exists nowhere else. The signer itself decides whether the new tree extends
    it.
    """
    with suppress(Unproven, IntegrityError), transaction.atomic():
        found = verify.Checkpoint.of(last_signed.note, believed)
        if found.seconds is not None and found.tree.root == tree.root(tiles, found.tree.size):
            at = datetime.fromtimestamp(found.seconds, UTC)
            Checkpoint(size=found.tree.size, root=found.tree.root, at=at, note=last_signed.note).save(force_insert=True)


def _note(asked: Tree, tiles: tree.Tiles, old: int) -> str:
    proof = tree.consistency_proof(tiles, old, asked.size) if old <= asked.size else []
    return signing.sign(Path(settings.AUDIT_SIGNER), asked, old=old, proof=proof)


def _note_after(asked: Tree, tiles: tree.Tiles, old: int) -> str:
    """Ask again with a proof from the signer's last tree. If that tree is larger than the
    database's, ask anyway and let the signer refuse. If it is only larger than the requested one,
    another sealer is ahead.
    """
    if asked.size < old <= leaves():
        raise signing.SignerAway(f"another sealer has had {old} leaves signed")
    try:
        return _note(asked, tiles, old)
    except signing.AnotherTreeWasLast as again:
        raise signing.SignerAway("another sealer is being answered") from again
