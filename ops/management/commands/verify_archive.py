"""`manage.py verify_archive FILE …`: check archives of months, each by itself and as the one that this house made.

The same without a house: `python3 -I verify_archive.py FILE --keys KEYS`, with the two programs that lie in each file.
The keys of the event log to believe come from AUDIT_KEYS or from --keys, never from the database.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.sealing import keys as known
from audit.verification import verify
from audit.verification.verify import Key
from ops.archive import leaving, verify_archive
from ops.archive.errors import ArchiveError


class Command(BaseCommand):
    """Says what is right and what is wrong, a line each; ends with status 1 where anything is."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take which ones, and whom to believe."""
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument("--keys", type=Path, help="a file with the keys to believe, instead of AUDIT_KEYS")

    def handle(self, *args: Any, files: list[Path], keys: Path | None, **options: Any) -> None:
        """Check each. Raises CommandError where anything is wrong."""
        try:
            believed = verify.keys_of(verify.read(keys)) if keys else known.known()
        except verify.UNREADABLE as error:
            raise CommandError(f"Nothing can be checked: {error}", returncode=2) from error
        if not believed:
            raise CommandError("Nothing can be checked: no key is known. Set AUDIT_KEYS, or give --keys.", returncode=2)
        wrong = [sentence for file in files for sentence in self._check(file, believed)]
        if wrong:
            raise CommandError(f"{len(wrong)} things are wrong, which stand above.")

    def _check(self, file: Path, keys: list[Key]) -> list[str]:
        try:
            month = leaving.row_of(file)
            archive = verify_archive.Archive(file)
        except (ArchiveError, verify_archive.NotReadable) as error:
            self.stdout.write(f"WRONG: {error}")
            return [str(error)]
        archive.check()
        archive.check_log(verify, keys)
        if archive.manifest["carried"] != leaving.carried_of(month):
            archive.wrong.append("what is carried forward in the house is not what the archive has")
        self.stdout.write(f"{file} is the archive of {month.month}.")
        for sentence in archive.right:
            self.stdout.write(sentence)
        for sentence in archive.wrong:
            self.stdout.write(f"WRONG: {sentence}")
        return archive.wrong
