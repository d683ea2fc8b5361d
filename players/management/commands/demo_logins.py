"""`manage.py demo_logins`: list the users of a demo house and their password."""

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from players.demo import DEMO_LOGINS, PASSWORD


class Command(BaseCommand):
    """Print the demo log-ins as a table. Needs no database."""

    help = __doc__ or ""
    requires_system_checks = ()

    def handle(self, *args: object, **options: object) -> None:
        """Print the table. Raises CommandError in production."""
        if not settings.DEMO:
            raise CommandError("Not a demo installation: there are no published passwords.")
        rows = [("e-mail address", "password", "who")]
        rows += [(login.email, PASSWORD, login.who) for login in DEMO_LOGINS]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        self.stdout.write("\nOutgoing mail, including codes, is shown at /demo/outbox/. The back office is at /staff/.")
        self.stdout.write("Staff also need a code: ./manage.py demo_code USER prints it, for example for operator.")
