"""`manage.py announce_keys`: record the new signing keys in the event log, signed by the old keys.

The new keys are those of AUDIT_KEYS that have not signed the last checkpoint. Anyone who follows
the log with its old keys can trust the new ones, because the old ones have signed them. See
docs/operating.md for the replacement of keys.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.sealing import checkpoints
from audit.verification.verify import Unproven


class Command(BaseCommand):
    """Record the new signing keys in the event log."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command. Raises CommandError if there is nothing to announce."""
        try:
            announced = checkpoints.announce_keys()
        except (checkpoints.NothingNew, Unproven) as error:
            raise CommandError(str(error)) from error
        self.stdout.write("\n".join(["The event log says from now on that these keys are to sign it:", *announced]))
        self.stdout.write("The next checkpoint covers that. Once it is there, start the signer again.")
