"""`manage.py healthy ROLE`: check one process of the house on this machine.

Exit status 0 if healthy, else 1.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.health import ROLES, Unwell


class Command(BaseCommand):
    """Check one process. Skips Django's system checks, because a probe runs every few seconds."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the role."""
        parser.add_argument("role", choices=ROLES)

    def handle(self, *args: Any, role: str, **options: Any) -> None:
        """Print the result. Raises CommandError if the process is not healthy."""
        try:
            self.stdout.write(ROLES[role]())
        except Unwell as reason:
            raise CommandError(str(reason)) from reason
