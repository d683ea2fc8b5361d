"""`manage.py healthy ROLE`: say whether a program of the house works on this machine: status 0 if so, or 1."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.health import ROLES, Unwell


class Command(BaseCommand):
    """Asks one program how it is. Nothing else is checked: a probe runs every few seconds."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take which program."""
        parser.add_argument("role", choices=ROLES)

    def handle(self, *args: Any, role: str, **options: Any) -> None:
        """Print how it is. Raises CommandError where it is not well."""
        try:
            self.stdout.write(ROLES[role]())
        except Unwell as reason:
            raise CommandError(str(reason)) from reason
