"""`manage.py healthy ROLE`: say whether a program of the house works on this machine: status 0 if so, or 1."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.health import ROLES, Unwell


class Command(BaseCommand):
    """Checks one process. Django's system checks are skipped: a probe runs every few seconds."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the role."""
        parser.add_argument("role", choices=ROLES)

    def handle(self, *args: Any, role: str, **options: Any) -> None:
        """Print the result. Raises CommandError where the process is not healthy."""
        try:
            self.stdout.write(ROLES[role]())
        except Unwell as reason:
            raise CommandError(str(reason)) from reason
