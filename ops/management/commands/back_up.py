"""`manage.py back_up FILE`: back up the whole database at one moment, while play continues.

FILE is a PostgreSQL archive, encrypted with age for the public keys of BACKUP_RECIPIENTS, so the
machine that makes it cannot read it. --plain writes it unencrypted. FILE must not exist;
FILE.sha256 is written next to it. Keys, roles and the folders of signer and dealer are not
included: store SECOND_FACTOR_KEY, DOCUMENT_KEY, PARTNER_KEY and the signer's folder separately, and
not in one place. The dealer's shoes are never copied. Needs DATABASE_OWNER_URL.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops.backup import copies
from ops.backup.pg_tools import BackupError

NOT_IN_IT = (
    "Not included but needed for a restore: SECOND_FACTOR_KEY, DOCUMENT_KEY, PARTNER_KEY, the signer's folder. Keep"
    " them in a separate place. Never copy the dealer's shoes: they have the cards to come."
)


class Command(BaseCommand):
    """Write a backup to a file."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file and the encryption option."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--plain", action="store_true", help="write an unencrypted backup")

    def handle(self, *args: Any, file: Path, plain: bool, **options: Any) -> None:
        """Write the backup. Raises CommandError with the reason; no file is left then."""
        try:
            taken = copies.back_up(file, is_plain=plain)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{file} contains the state at the start of this command: {taken.bytes:,} bytes, {taken.leaves:,} sealed"
            f" events.\n{_secrecy(taken.readers)}\nSHA-256 {taken.sha256}\n{NOT_IN_IT}"
        )


def _secrecy(readers: int) -> str:
    if readers:
        return f"Encrypted. It can be opened with any one of {readers} secret keys."
    return "NOT ENCRYPTED. Anyone with the file can read names, addresses and balances."
