"""`manage.py after_restore`: make the house of a copy of its database, wherever the copy comes from.

After PostgreSQL's own tools have brought the database back (to a moment of its write-ahead log, from a standby, from a
copy of the files), and where `manage.py restore` was cut short. Nothing that was committed to in the copy is dealt:
its cards may be known. A production house does not open before this was done (sabot.E017). Safe to do again.
"""

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops.backup import activation
from ops.backup.errors import BackupError


class Command(BaseCommand):
    """Activates a restored copy of the database."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command. Raises CommandError with the reason."""
        settle_and_say(self.stdout.write)


def settle_and_say(say: Callable[[str], object]) -> None:
    """Activate the copy and print what is left to do. Raises CommandError where that is impossible."""
    try:
        settled = activation.settle(say)
    except BackupError as error:
        raise CommandError(str(error)) from error
    for sentence in settled.waiting:
        say(sentence)
    say(
        "The house may open. Next: manage.py verify_ledger, manage.py verify_audit; then what has to be made up for"
        f" since {settled.until} (docs/operating.md, “After a restore”)."
    )
