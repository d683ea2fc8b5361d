"""`manage.py verify_house`: hold the signed event log against everything that is stored.

Without arguments it verifies everything. Parts can be chosen with --part, and a time with --since: then only leaves and
rows from then on are verified. --new verifies what no run has verified, as the task of each minute does.

Each finding is an event and a significant event. Findings about cards close their table, and findings about the log
stop the signing, until a whole verification finds nothing.
"""

import sys
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.verification import house


class Command(BaseCommand):
    """Verify the house. Exit status 1 on findings."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what is verified."""
        parser.add_argument("--part", action="append", default=[], choices=house.names(), help="can be repeated")
        parser.add_argument("--since", type=_moment, help="only leaves since this time, such as 2026-11-28T10:00 (UTC)")
        parser.add_argument("--new", action="store_true", help="only what no run has verified")

    def handle(
        self, *args: Any, part: list[str], since: datetime | None = None, new: bool = False, **options: Any
    ) -> None:
        """Run the verification. Raises CommandError if there are findings, or another process is verifying."""
        try:
            found = house.run(is_whole=not new, parts=part, since=since, tell=self._tell)
        except house.AlreadyRunning as running:
            raise CommandError("Another process is verifying the house. Run the command again.") from running
        for each in found:
            self.stdout.write(f"{each.verified}: {each.text}")
        if found:
            raise CommandError(f"The house failed verification: {len(found)} findings, listed above.")
        self.stdout.write(f"The house is verified: {', '.join(part or house.names())}.")

    def _tell(self, done: int, leaves: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done:,} of {leaves:,} events", ending="\n" if done == leaves else "")


def _moment(text: str) -> datetime:
    """Parse a time in UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
