"""`manage.py after_restore`: activate a restored copy of the database.

Run it after a restore with PostgreSQL's tools (point-in-time recovery, a standby, a copy of the
files), and after an interrupted `manage.py restore`. Rounds committed to in the copy are never
dealt, because their cards may be known. A production house does not start before this (sabot.E017).
The command can be repeated safely.
"""

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ops.backup import activation
from ops.backup.pg_tools import BackupError


class Command(BaseCommand):
    """Activate a restored copy of the database."""

    help = __doc__ or ""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command. Raises CommandError with the reason."""
        settle_and_say(self.stdout.write)


def settle_and_say(say: Callable[[str], object]) -> None:
    """Activate the copy and print what is left to do. Raises CommandError if that is impossible."""
    try:
        settled = activation.settle(say)
    except BackupError as error:
        raise CommandError(str(error)) from error
    for message in settled.waiting:
        say(message)
    say(
        "The system can start. Next: manage.py verify_house, and with what was kept outside; then handle events missing"
        f" since {settled.until} (docs/operating.md, “After a restore”)."
    )
