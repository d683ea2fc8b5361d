"""`manage.py revoke_tokens "why"`: have no token of any program hold any longer, players' and staff's alike, at once.

For when nobody knows which were seen. Owners are told by mail and make others under Programs; why is on record. Keys of
partners of the seamless wallet are no tokens, and stay.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from players.api import tokens


class Command(BaseCommand):
    """Revokes all API tokens."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the reason."""
        parser.add_argument("why")

    def handle(self, *args: Any, why: str, **options: Any) -> None:
        """Revoke. Raises CommandError without a reason."""
        if not why.strip():
            raise CommandError("Say why: it stays on record.")
        self.stdout.write(f"Tokens of programs revoked: {tokens.revoke_every(by='system', reason=why.strip())}.")
