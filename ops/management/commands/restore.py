"""`manage.py restore FILE`: restore a backup into an empty database and activate it.

The database of DATABASE_OWNER_URL must be empty and unused, and its roles must exist (`manage.py
create_roles`). FILE is restored completely or not at all. Then the copy is activated as by
`manage.py after_restore`. An encrypted FILE is decrypted with the secret key in --identity, a file
as age-keygen writes it.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.backup import copies
from ops.backup.pg_tools import BackupError
from ops.management.commands.after_restore import settle_and_say


class Command(BaseCommand):
    """Restore a backup file."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file, its digest and the key."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--sha256", default="", metavar="DIGITS", help="digest, if there is no FILE.sha256")
        parser.add_argument("--identity", type=Path, help="file of the secret key, if FILE is encrypted")

    def handle(self, *args: Any, file: Path, sha256: str, identity: Path | None, **options: Any) -> None:
        """Restore. Raises CommandError with the reason, and whether anything was written."""
        try:
            copies.restore(file, sha256, identity)
        except BackupError as error:
            raise CommandError(f"Nothing was restored. {error}") from error
        self.stdout.write(f"{file} was restored completely.")
        settle_and_say(self.stdout.write)
