"""`manage.py verify_audit`: verify the event log, and every report against the log.

The command hashes every event again and compares the log with its signed checkpoints, the signer's
memory, and checkpoints stored elsewhere. The trusted keys come from AUDIT_KEYS or from --keys,
never from the database.
"""

import os
import sys
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.reports import verification as reports
from audit.sealing.checkpoints import trusted_keys
from audit.verification import checking
from audit.verification.verify import Key, Unproven, keys_of, read


class Command(BaseCommand):
    """Verify the event log and the reports.

    Exit status 1 on findings, 2 if verification is impossible.
    """

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the evidence outside the database."""
        parser.add_argument("--keys", type=Path, help="file with trusted public keys, instead of AUDIT_KEYS")
        parser.add_argument("--signer", type=Path, help="directory of the signer (known in a demo)")
        parser.add_argument(
            "--checkpoint",
            type=Path,
            action="append",
            default=[],
            help="stored checkpoint; can be repeated",
        )
        parser.add_argument(
            "--from", dest="first", type=int, default=0, metavar="SIZE", help="hash events only from this leaf on"
        )

    def handle(
        self, *args: Any, keys: Path | None, signer: Path | None, checkpoint: list[Path], first: int, **options: Any
    ) -> None:
        """Run the check. Raises CommandError if there are findings or nothing can be checked."""
        believed, outside = self._given(keys, signer, checkpoint)
        findings, done = 0, checking.Done()
        try:
            of_log = checking.check(believed, outside, first=first, progress=self._progress, done=done)
            for finding in chain(of_log, reports.findings()):
                self.stdout.write(str(finding))
                findings += 1
        except (checking.OutOfRange, OSError, Unproven, UnicodeDecodeError) as error:
            raise CommandError(f"Verification failed to start: {error}", returncode=2) from error
        for remark in done.remarks:
            self.stdout.write(remark)
        if findings:
            raise CommandError(f"The log failed verification: {findings} findings, listed above.")
        self.stdout.write(_message(done, outside))

    def _given(
        self, file: Path | None, signer: Path | None, checkpoints: list[Path]
    ) -> tuple[list[Key], checking.Outside]:
        try:
            believed = keys_of(read(file)) if file else trusted_keys()
            notes = {str(each): read(each) for each in checkpoints}
        except (OSError, Unproven, UnicodeDecodeError) as error:
            raise CommandError(f"Verification failed to start: {error}", returncode=2) from error
        if not believed:
            raise CommandError(
                "Verification failed to start: no public key is configured. Set AUDIT_KEYS or use --keys.", returncode=2
            )
        return believed, checking.Outside(signer or _of_a_demo(), notes)

    def _progress(self, done: int, leaves: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done:,} of {leaves:,} events", ending="\n" if done == leaves else "")


def _of_a_demo() -> Path | None:
    """Return the signer's folder of a demo, if it exists and is readable."""
    folder: Path | None = settings.SIGNER_DIR
    return folder if folder and os.access(folder / "latest", os.R_OK) else None


def _message(done: checking.Done, outside: checking.Outside) -> str:
    """Return a summary of what was compared."""
    memory = "with the signer's memory" if outside.signer else "without the signer's memory"
    return (
        f"The log is verified: {done.hashed} of {done.leaves} leaves hashed, {done.covered} of them covered by"
        f" {done.checkpoints} checkpoints, {memory}, with {len(outside.checkpoints)} checkpoints kept outside."
    )
