"""`manage.py verify_deals`: verify every deal in the event log.

It checks that the commitment to each round was in the log before the round, that a dealer of
DEALER_KEYS signed each deal, and that no deal is missing. A missing deal was dealt and not stored:
expected where a process died at that moment, and else a sign that somebody looked at cards and threw
the round away. `manage.py verify_audit` verifies the log itself.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from games.verification import deals


class Command(BaseCommand):
    """Verify the deals. Exit status 1 on findings."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the check. Raises CommandError if there are findings."""
        verified, found = deals.Verified(), 0
        for finding in deals.findings(verified):
            self.stdout.write(finding)
            found += 1
        if found:
            raise CommandError(f"The deals failed verification: {found} findings, listed above.")
        counted = f"{verified.rounds} rounds, {verified.shoes} shoes and {len(verified.epochs)} epochs of the dealer"
        self.stdout.write(f"{counted} were verified.")
