"""`manage.py archive_month FOLDER`: the oldest month leaves the database for a file in FOLDER that proves itself, while
play goes on.

A month may leave thirteen months after its end, and only whole: its events sealed, its journals balanced, nothing that
was staked in it still under way. The file is read back before anything is taken out. Afterwards the month's tables
stand apart in the database, where nobody reads them: `manage.py archive_month --drop FILE` lets them go. Keep the file
on more than one machine first, as you keep backups. Needs DATABASE_OWNER_URL.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.archive import leaving
from ops.archive.errors import ArchiveError
from ops.backup.errors import BackupError


class Command(BaseCommand):
    """Has a month leave, or lets one go that has left."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to, or what is to go."""
        parser.add_argument("path", type=Path, metavar="FOLDER", help="where the file is to lie; with --drop, the file")
        parser.add_argument("--drop", action="store_true", help="let the tables go of which this is the archive")

    def handle(self, *args: Any, path: Path, drop: bool, **options: Any) -> None:
        """Do it. Raises CommandError, saying what is in the way."""
        try:
            if drop:
                self.stdout.write(f"{leaving.drop(path)} has gone: {path} is all there is of it.")
                return
            left = leaving.leave(path, self.stdout.write)
        except (ArchiveError, BackupError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{left.month.name} has left, and is in {left.file}.\nKeep a copy of it elsewhere, then let go what stands"
            f" apart: manage.py archive_month --drop {left.file}"
        )
