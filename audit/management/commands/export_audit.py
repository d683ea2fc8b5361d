"""`manage.py export_audit FILE`: write the event log, or a part of it, to a ZIP file with proofs
and a README.

With --personal it also contains the personal values that are not erased, for an auditor who may see
them.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.tree import NotSealed
from audit.verification import export
from audit.verification.verify import Unproven


class Command(BaseCommand):
    """Export the event log to a ZIP file.

    The export is recorded, with whether it has personal values.
    """

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the range and the file."""
        parser.add_argument("file", type=Path, help="must not be there yet")
        parser.add_argument("--from", dest="first", type=int, default=0, metavar="LEAF", help="the first leaf")
        parser.add_argument("--to", dest="end", type=int, metavar="LEAF", help="the first leaf that is left out")
        parser.add_argument("--personal", action="store_true", help="with salts and values of personal data")

    def handle(self, *args: Any, file: Path, first: int, end: int | None, personal: bool, **options: Any) -> None:
        """Write the export.

        Raises CommandError if there is nothing to export or the file cannot be written.
        """
        try:
            chosen = export.part(first, end)
            with file.open("xb") as archive:
                archive.writelines(export.export(chosen, by="system", personal=personal))
        except (NotSealed, Unproven, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Leaves {chosen.first} to {chosen.end - 1} of {chosen.checkpoint.size} are in {file}.")
