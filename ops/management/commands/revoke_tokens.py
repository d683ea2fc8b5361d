"""`manage.py revoke_tokens "why"`: revoke all API tokens of players and staff at once.

Use it if it is unknown which tokens have leaked. Owners get a mail and can create new tokens; the
reason is recorded. Keys of partners of the seamless wallet are not tokens and stay valid.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from players.api import tokens


class Command(BaseCommand):
    """Revoke all API tokens."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the reason."""
        parser.add_argument("why")

    def handle(self, *args: Any, why: str, **options: Any) -> None:
        """Revoke. Raises CommandError without a reason."""
        if not why.strip():
            raise CommandError("Enter a reason. It is recorded.")
        self.stdout.write(f"API tokens revoked: {tokens.revoke_every(by='system', reason=why.strip())}.")
