"""`manage.py verify_house`: compare everything that is stored with the signed event log.

Without arguments it verifies everything. Parts can be chosen with --part, and a time with --since: then only leaves and
rows from then on are verified. --new verifies what no run has verified, as the task of each minute does. --from-start
verifies every row of the ledger, whatever was verified before, and accepts rows that have changed since.

Each finding is an event and a significant event. Findings about cards close their table, and findings about the log
stop the signing, until a whole verification finds nothing.

With --checkpoint, --signer, --keys or --from-leaf only the log is verified, against this evidence from outside the
database. Nothing is recorded or stopped then. Without --keys, the keys of AUDIT_KEYS are trusted, never those of the
database.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.sealing.checkpoints import trusted_keys
from audit.verification import house, house_log
from audit.verification.checking import OutOfRange, Outside
from audit.verification.house import Evidence
from audit.verification.verify import Unproven, keys_of, read

UNREADABLE = (OSError, Unproven, UnicodeDecodeError)


class Command(BaseCommand):
    """Verify the house. Exit status 1 on findings, 2 if the evidence cannot be read."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what is verified, and the evidence."""
        parser.add_argument("--part", action="append", default=[], choices=house.names(), help="can be repeated")
        parser.add_argument("--since", type=_moment, help="only leaves since this time, such as 2026-11-28T10:00 (UTC)")
        parser.add_argument("--new", action="store_true", help="only what no run has verified")
        parser.add_argument("--from-start", action="store_true", help="every row of the ledger, verified before or not")
        parser.add_argument("--keys", type=Path, help="file with trusted public keys, instead of AUDIT_KEYS")
        parser.add_argument("--signer", type=Path, help="directory of the signer (known in a demo)")
        parser.add_argument("--checkpoint", type=Path, action="append", default=[], help="kept outside; repeatable")
        parser.add_argument("--from-leaf", type=int, help="hash events only from this leaf on")

    def handle(
        self,
        *args: Any,
        part: list[str],
        since: datetime | None = None,
        new: bool = False,
        from_start: bool = False,
        keys: Path | None = None,
        signer: Path | None = None,
        checkpoint: list[Path],
        from_leaf: int | None = None,
        **options: Any,
    ) -> None:
        """Run the verification. Raises CommandError if there are findings, or another process is verifying."""
        if keys or signer or checkpoint or from_leaf is not None:
            self._hold_against(_evidence(keys, signer, checkpoint, from_leaf or 0))
            return
        try:
            found = house.run(is_whole=not new, parts=part, since=since, from_start=from_start, tell=self._tell)
        except house.AlreadyRunning as running:
            raise CommandError("Another process is verifying the house. Run the command again.") from running
        for each in found:
            self.stdout.write(f"{each.verified}: {each.text}")
        if found:
            raise CommandError(f"The house failed verification: {len(found)} findings, listed above.")
        self.stdout.write(f"The house is verified: {', '.join(part or house.names())}.")

    def _hold_against(self, evidence: Evidence) -> None:
        try:
            found = house.hold_against(evidence, tell=self._tell)
        except (OutOfRange, *UNREADABLE) as error:
            raise CommandError(f"Verification failed to start: {error}", returncode=2) from error
        for text in (*(each.text for each in found), *evidence.done.remarks):
            self.stdout.write(text)
        if found:
            raise CommandError(f"The log failed verification: {len(found)} findings, listed above.")
        done, outside = evidence.done, evidence.outside
        memory = "with the signer's memory" if outside.signer else "without the signer's memory"
        self.stdout.write(
            f"The log is verified: {done.hashed} of {done.leaves} leaves hashed, {done.covered} of them covered by"
            f" {done.checkpoints} checkpoints, {memory}, with {len(outside.checkpoints)} checkpoints kept outside."
        )

    def _tell(self, what: str, done: int, of: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done:,} of {of:,} {what}", ending="\n" if done >= of else "")


def _evidence(file: Path | None, signer: Path | None, checkpoints: list[Path], first: int) -> Evidence:
    """Read the evidence. Raises CommandError where that is not possible."""
    try:
        believed = keys_of(read(file)) if file else trusted_keys()
        notes = {str(each): read(each) for each in checkpoints}
    except UNREADABLE as error:
        raise CommandError(f"Verification failed to start: {error}", returncode=2) from error
    if not believed:
        raise CommandError(
            "Verification failed to start: no public key is configured. Set AUDIT_KEYS or use --keys.", returncode=2
        )
    return Evidence(believed, Outside(signer or house_log.signer_folder(), notes), first)


def _moment(text: str) -> datetime:
    """Parse a time in UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
