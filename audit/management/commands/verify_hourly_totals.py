"""`manage.py verify_hourly_totals`: recompute hourly totals and print the differences.

A difference is also recorded in the event log.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import hours
from audit.reports.kinds import Interval


class Command(BaseCommand):
    """Recompute hourly totals and print each hour that differs. Exit status 1 if one does."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the selection of totals and the period."""
        parser.add_argument("--totals", default="", help="only the totals of this name, as games.rounds")
        parser.add_argument("--days", type=int, help="only those that ended in so many days until now")

    def handle(self, *args: Any, totals: str, days: int | None, **options: Any) -> None:
        """Run the verification. Raises CommandError if anything differs."""
        now = datetime.now(UTC)
        since = now - timedelta(days=days) if days is not None else datetime(1970, 1, 1, tzinfo=UTC)
        found = 0
        for name, message in hours.verify(Interval(since, now), only=totals):
            self.stdout.write(f"{name}: {message}")
            found += 1
        if found:
            raise CommandError(f"Totals and rows differ: {found} differences, listed above.")
        self.stdout.write("All totals agree with their rows.")
