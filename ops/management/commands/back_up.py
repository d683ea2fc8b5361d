"""`manage.py back_up FILE`: back up the whole database at one moment, while play continues.

FILE is a PostgreSQL archive, encrypted with age for the public keys of BACKUP_RECIPIENTS, so the
machine that makes it cannot read it. --plain writes it unencrypted. FILE must not exist;
FILE.sha256 is written next to it. Keys, roles and the signer's folder are not included: store
SEED_KEY, DOCUMENT_KEY, PARTNER_KEY and that folder separately, and not in one place. Needs
DATABASE_OWNER_URL.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.backup import taking
from ops.backup.errors import BackupError

NOT_IN_IT = (
    "Not in it, and needed to put it up again: SEED_KEY, DOCUMENT_KEY, PARTNER_KEY, the signer's folder. Keep them"
    " apart from it."
)


class Command(BaseCommand):
    """Write a backup to a file."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file and the encryption option."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--plain", action="store_true", help="write it for everybody to read who finds it")

    def handle(self, *args: Any, file: Path, plain: bool, **options: Any) -> None:
        """Write the backup. Raises CommandError with the reason; no file is left then."""
        try:
            taken = taking.back_up(file, is_plain=plain)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{file} holds the house as of when this command began: {taken.bytes:,} bytes, {taken.leaves:,} sealed"
            f" events.\n{_secrecy(taken.readers)}\nSHA-256 {taken.sha256}\n{NOT_IN_IT}"
        )


def _secrecy(readers: int) -> str:
    if readers:
        return f"It is encrypted: any one of {readers} secret keys opens it, and nothing else does."
    return "IT IS NOT ENCRYPTED: whoever has the file reads names, addresses and balances."
