"""`manage.py verify_ledger`: check every invariant of the ledger and list the rows that break
it.

Journals are verified from the mark of the last verification on, which continues where it was
interrupted. All earlier rows are compared with what was verified then.
"""

import time
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from wallet.invariants import verify
from wallet.invariants.verify import Progress

PAUSE: Final = 5.0  # seconds between two lines about the progress


class Command(BaseCommand):
    """Check every invariant of the ledger. Exit status 1 if one does not hold."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what is verified."""
        parser.add_argument("--new", action="store_true", help="only what was written since the last verification")
        parser.add_argument("--from-start", action="store_true", help="verify every row, whatever was verified before")

    def handle(
        self, *args: Any, new: bool = False, from_start: bool = False, verbosity: int = 1, **options: Any
    ) -> None:
        """Check the invariants.

        Raises CommandError with every offending row if an invariant does not hold, or if another
        process took part in the verification and ended it.
        """
        self.told = time.monotonic()
        try:
            checks = verify.run(is_whole=not new, from_start=from_start, tell=self.tell if verbosity else None)
        except verify.VerificationEnded as ended:
            raise CommandError(
                "Another process, such as the hourly task, verified the ledger at the same time. What it found is in"
                " the audit log. Run the command again."
            ) from ended
        broken = [f"{check.invariant.name}: {row}" for check in checks for row in check.rows]
        if broken:
            raise CommandError("The ledger is inconsistent.\n" + "\n".join(broken))
        if verbosity:
            for check in checks:
                self.stdout.write(f"holds: {check.invariant.meaning}")

    def tell(self, progress: Progress) -> None:
        """Say how far the verification is."""
        if time.monotonic() - self.told >= PAUSE:
            self.told = time.monotonic()
            self.stderr.write(f"Journals below {progress.next} of {progress.beyond} are verified …")
