"""`manage.py announce_keys`: write into the event log which keys it is going to be signed by, while the old ones sign.

They are those of AUDIT_KEYS that have not signed the last checkpoint. Whoever follows the log and has its old keys
learns of the new ones from what the old ones have signed. How keys are replaced stands in docs/operating.md.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.sealing import key_announcement
from audit.verification.verify import Unproven


class Command(BaseCommand):
    """Announces keys."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command. Raises CommandError where there is nothing to announce."""
        try:
            announced = key_announcement.announce()
        except (key_announcement.NothingNew, Unproven) as error:
            raise CommandError(str(error)) from error
        self.stdout.write("\n".join(["The event log says from now on that these keys are to sign it:", *announced]))
        self.stdout.write("The next checkpoint covers that. Once it is there, start the signer again.")
