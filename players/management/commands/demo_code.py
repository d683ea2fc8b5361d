"""`manage.py demo_code USER`: print the second-factor code of a demo staff member."""

from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from players.demo import DEMO_LOGINS
from players.login import second_factor
from players.models import User


class Command(BaseCommand):
    """Print a valid code, as the person's authenticator app would show it."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the user argument."""
        parser.add_argument("user", help="operator, or operator@demo.example")

    def handle(self, *args: object, user: str, **options: object) -> None:
        """Print the code.

        Raises CommandError in production, for players, and for unknown demo accounts.
        """
        if not settings.DEMO:
            raise CommandError("Not a demo installation. Codes come from the users' own authenticator apps.")
        asked = user.strip().lower()
        login = next((login for login in DEMO_LOGINS if asked in (login.email, login.code.lower())), None)
        if login is None:
            staff = ", ".join(login.code for login in DEMO_LOGINS if not login.currency)
            raise CommandError(f"The demo has no {user}. Its staff are: {staff}.")
        if login.currency:
            raise CommandError(f"{login.email} is a player, who logs in with the password alone.")
        person = User.objects.filter(email=login.email, is_demo=True).first()
        if person is None:
            raise CommandError("No demo users yet. Start Sabot once with `make run`.")
        code = second_factor.code_of(person)
        if code is None:
            raise CommandError("All codes of this minute have been used. Try again in half a minute.")
        self.stdout.write(code)
