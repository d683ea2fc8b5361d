"""`manage.py reseal`: bring all that is encrypted under the first key of SEED_KEY, DOCUMENT_KEY and PARTNER_KEY, while
the house plays.

Each of the three may name several keys, separated by commas: the first one encrypts, all of them decrypt. Safe to stop
and to do again. Says of which setting the older keys may go, and ends with status 1 where one may not yet. Needs
DATABASE_OWNER_URL. How a key is replaced stands in docs/operating.md.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops import reencryption
from ops.backup.errors import BackupError


class Command(BaseCommand):
    """Re-encrypts data."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command. Raises CommandError with the reason."""
        try:
            is_done = reencryption.reseal(self.stdout.write)
        except BackupError as error:
            raise CommandError(str(error)) from error
        if not is_done:
            raise CommandError("Not everything is under the first key yet. What is not, opens with the older one.")
