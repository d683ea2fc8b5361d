"""`manage.py print_bank_statement`: print the sandbox bank's statement, for upload at
``/staff/statements/``.
"""

from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand

from wallet.sandbox_bank.orders import write_statement


class Command(BaseCommand):
    """Print a statement to try out or test reconciliation."""

    help = "prints what the sandbox bank took and paid in some days, as CSV"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the first and last day, in UTC."""
        parser.add_argument("--since", type=date.fromisoformat, required=True, help="first day, such as 2026-11-22")
        parser.add_argument("--until", type=date.fromisoformat, required=True, help="last day, included")

    def handle(self, *, since: date, until: date, **options: Any) -> None:
        """Print the statement."""
        write_statement(self.stdout, since=since, until=until)
