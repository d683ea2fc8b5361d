"""`manage.py restore FILE`: put the house up again from a backup, in an empty database, and settle it.

The database of DATABASE_OWNER_URL has to be empty, its roles made (`manage.py create_roles`), nobody at work in it.
All of FILE is written or nothing. Then the copy is settled, as `manage.py after_restore` does. What is encrypted is
decrypted with the secret key in --identity, as age-keygen writes it, on its way into the database.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.backup import restoring
from ops.backup.errors import BackupError
from ops.management.commands.after_restore import settle_and_say


class Command(BaseCommand):
    """Restores a backup file."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file, its digest and the key."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--sha256", default="", metavar="DIGITS", help="where FILE.sha256 is not beside it")
        parser.add_argument("--identity", type=Path, help="the file of the secret key, where FILE is encrypted")

    def handle(self, *args: Any, file: Path, sha256: str, identity: Path | None, **options: Any) -> None:
        """Restore. Raises CommandError with the reason, and whether anything was written."""
        try:
            restoring.restore(file, sha256, identity)
        except BackupError as error:
            raise CommandError(f"Nothing was restored. {error}") from error
        self.stdout.write(f"All of {file} is in the database.")
        settle_and_say(self.stdout.write)
