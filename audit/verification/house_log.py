"""The event log as a part of the verification of the house: every leaf is hashed again and compared with the tree,
and the tree with what was signed.

Each minute the new leaves are hashed, and in turn a window of the older ones: all of them in as many minutes as there
are windows of `WINDOW` leaves. While a leaf or the tree is not what was sealed, nothing more is signed
(`audit.sealing.alarms.ALTERED`): a signature would say that all is well. Signing continues after a whole verification
that finds nothing.
"""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from audit import log
from audit.models import Checkpoint, Tile
from audit.reports import verification as reports
from audit.sealing import alarms, checkpoints
from audit.staff_text import register_findings
from audit.verification import checking, verify_events
from audit.verification.checking import Outside, StoredTiles, is_signed
from audit.verification.house import PROTECTION, TEXTS, Evidence, Finding, Part, Tell, Verifier, found_by, register
from audit.verification.verify import WIDTH, Times, Unproven, root_from, root_of, split
from audit.verification.verify import Checkpoint as Signed
from audit.verification.verify_events import Rehashing

NAME: Final = "log"
SIGNIFICANT, EVENTS, APPROVALS = "audit_significant", "audit_event", "audit_approval"
SEALED: Final = "the log is as it was sealed and signed"
SIGNED: Final = "checkpoints are signed"
WINDOW: Final = 256 * WIDTH  # older leaves that are hashed again each minute: about half a second
MINUTE: Final = 60  # seconds
NESTED_LOOPS: Final = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"  # see checking.ONE_STATE


def add() -> None:
    """Register the log, the reports, the significant events and the approvals as parts."""
    register_findings(TEXTS)
    register(Part(NAME, _OfLog, act=_stop_signing, end=_go_on, takes_evidence=True))
    register(Part("reports", _OfReports))
    register(Part(PROTECTION, _OfSignificant, tables=(SIGNIFICANT, EVENTS)))
    register(Part(PROTECTION, _OfApprovals, tables=(APPROVALS,)))


def signer_folder() -> Path | None:
    """Return the signer's folder of a demo, if it exists and is readable."""
    folder: Path | None = settings.SIGNER_DIR
    return folder if folder and os.access(folder / "latest", os.R_OK) else None


class _OfLog(Verifier):
    """Verifies the log. A whole run hashes leaves together with the tree."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Hash the leaves again."""
        if not self._is_everything:
            yield from _hashed(first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify tiles and checkpoints; of the older leaves those whose turn it is."""
        if self._is_everything:
            evidence = self.scope.evidence or Evidence(checkpoints.trusted_keys(), Outside(signer_folder(), {}))
            for each in _everything(evidence, self.scope.tell):
                # Leaves that no checkpoint covers have an alarm of their own (alarms.LAGS).
                if self.scope.evidence or not isinstance(each, checking.Uncovered):
                    yield _said(each)
            return
        with transaction.atomic():
            windows = max(1, -(-self.scope.first // WINDOW))
            begin = int(time.time() // MINUTE) % windows * WINDOW
            yield from _hashed(begin, min(begin + WINDOW, self.scope.first))
            yield from _upper_tiles()
            yield from _newest_root()

    @property
    def _is_everything(self) -> bool:
        return self.scope.is_whole and not self.scope.first


class _OfReports(Verifier):
    """Verifies the reports: hashes the stored files and pages again."""

    def rows(self) -> Iterator[Finding]:
        """Hash every report again, once a day."""
        if self.scope.is_whole:
            for each in reports.findings():
                yield Finding("reports are unchanged", "reports", str(each))


class _OfSignificant(Verifier):
    """Verifies significant events: each is what it was when it was found."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare the significant events of which these leaves speak."""
        yield from found_by("audit_verify_logged_significant", first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify that an event speaks of each."""
        yield from found_by("audit_verify_unlogged_significant", self.scope.low[SIGNIFICANT], self.scope.low[EVENTS])


class _OfApprovals(Verifier):
    """Verifies approvals: each request, and how it ended, is what its events say."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare the approvals of which these leaves speak."""
        yield from found_by("audit_verify_logged_approvals", first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify that an event speaks of each request, and of how it ended."""
        yield from found_by("audit_verify_unlogged_approvals", self.scope.low[APPROVALS])


def _everything(evidence: Evidence, tell: Tell) -> Iterator[verify_events.Finding]:
    return checking.check(
        evidence.keys,
        evidence.outside,
        first=evidence.first,
        progress=lambda done, leaves: tell("events", done, leaves),
        done=evidence.done,
    )


def _hashed(first: int, end: int) -> Iterator[Finding]:
    """Hash leaves again, from the beginning of the first one's tile on."""
    first -= first % WIDTH
    if first >= end:
        return
    with connection.cursor() as cursor:
        cursor.execute(NESTED_LOOPS)
        yield from map(_said, Rehashing(cursor, Times(_around(first, end))).leaves(first, end))
        yield from _full_tiles(cursor, first // WIDTH, end // WIDTH)


def _around(first: int, end: int) -> list[Signed]:
    """Return the checkpoints that say when leaves of a range were signed, and the next ones on both sides."""
    rows = Checkpoint.objects.order_by("size")
    before = rows.filter(size__lte=first).last()
    after = rows.filter(size__gte=end).first()
    between = rows.filter(size__gt=first, size__lt=end)
    return [
        Signed.of(row.note, checkpoints.house_keys(), is_signed)
        for row in checkpoints.counting([*filter(None, [before]), *between, *filter(None, [after])])
    ]


def _full_tiles(cursor: CursorWrapper, first: int, end: int) -> Iterator[Finding]:
    """Compare full tiles of leaf hashes with their hashes one level up."""
    cursor.execute(
        "SELECT tile.number, tile.hashes, substring(above.hashes FROM (tile.number %% 256)::integer * 32 + 1 FOR 32)"
        " FROM audit_tile AS tile LEFT JOIN audit_tile AS above ON above.level = 1 AND above.number = tile.number / 256"
        " WHERE tile.level = 0 AND tile.number >= %s AND tile.number < %s ORDER BY tile.number",
        [first, end],
    )
    for number, hashes, above in cursor.fetchall():
        if root_of(split(bytes(hashes))) != bytes(above or b""):
            text = f"leaf {number * WIDTH}: tile {number} of level 0 does not lead to the hash above it."
            yield Finding(SEALED, "log", text)


def _upper_tiles() -> Iterator[Finding]:
    """Compare the tiles of each level above the leaves' hashes with the level above it. There are few."""
    tiles = StoredTiles()
    for level, number, hashes in Tile.objects.filter(level__gte=1).values_list("level", "number", "hashes"):
        own = split(bytes(hashes))
        above = split(tiles.read(level + 1, number // WIDTH))
        if len(own) == WIDTH and [root_of(own)] != above[number % WIDTH :][:1]:
            yield Finding(SEALED, "log", f"tile {number} of level {level} does not lead to the hash above it.")


def _newest_root() -> Iterator[Finding]:
    """Compare the newest signed checkpoint with the tree."""
    newest, tiles = checkpoints.last(), StoredTiles()
    if newest is None:
        return
    try:
        found = root_from(lambda level, number: split(tiles.read(level, number)), newest.size)
    except (Unproven, IndexError) as lacking:
        yield Finding(
            SEALED, "log", f"the checkpoint of {newest.size} leaves cannot be compared with the tree: {lacking}."
        )
        return
    if found != bytes(newest.root):
        text = f"the root over {newest.size} leaves is {found.hex()}; {bytes(newest.root).hex()} was signed."
        yield Finding(SEALED, "log", text)


def _said(found: verify_events.Finding) -> Finding:
    verified = SIGNED if isinstance(found, checking.Unsigned) else SEALED
    return Finding(verified, f"event:{found.event}" if found.event is not None else "log", str(found))


def _stop_signing(found: Finding, _is_new: bool) -> None:
    """Stop signing and notify the staff who read the log, once until a whole verification finds nothing. Staff who
    end the alarm by an event of their own end it until the next run.
    """
    if found.verified == SEALED:
        data: dict[str, log.Json] = {"finding": found.text}
        alarms.begin(alarms.ALTERED, data)


def _go_on(findings: Sequence[Finding]) -> None:
    """Sign again after a whole verification that could verify everything and has not found the log altered."""
    if all(each.verified == SIGNED for each in findings):
        alarms.end(alarms.ALTERED, {})
