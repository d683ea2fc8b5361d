"""`manage.py reseal`: re-encrypt all data under the first keys of SECOND_FACTOR_KEY, DOCUMENT_KEY
and PARTNER_KEY.

Play continues. Each setting may contain several keys, separated by commas: the first one
encrypts, all of them decrypt. The command can be interrupted and repeated safely. It prints the
settings whose older keys can be removed; exit status 1 if one cannot be yet. Needs
DATABASE_OWNER_URL. See docs/operating.md for the replacement of keys.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops import reencryption
from ops.backup.pg_tools import BackupError


class Command(BaseCommand):
    """Re-encrypt data under the first keys."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command. Raises CommandError with the reason."""
        try:
            is_done = reencryption.reseal(self.stdout.write)
        except BackupError as error:
            raise CommandError(str(error)) from error
        if not is_done:
            raise CommandError("Not everything is under the first key yet. What is not, opens with the older one.")
