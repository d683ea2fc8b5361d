"""`manage.py reset`: delete everything in var/ (database, demo keys, logs).

The next start creates it again.
"""

import shutil
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ops import embedded
from ops.embedded.users import FileLock


class Command(BaseCommand):
    """Delete var/ after a confirmation, unless it is in use."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the option to skip the confirmation."""
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, yes: bool, **options: Any) -> None:
        """Remove the folder. Raises CommandError while the servers are in use."""
        paths = embedded.Paths(settings.VAR_DIR)
        if not paths.var.exists():
            self.stdout.write("Nothing to remove.")
            return
        paths.run.mkdir(exist_ok=True)
        with FileLock(paths.users_lock) as users:
            if not users.try_lock():
                raise CommandError(f"{paths.var} is in use: stop the house first.")
            if not (yes or _agreed(str(paths.var))):
                raise CommandError("Nothing was removed.")
            shutil.rmtree(paths.sockets, ignore_errors=True)
            if paths.home != paths.var:
                shutil.rmtree(paths.home)
            shutil.rmtree(paths.var)
        self.stdout.write(f"{paths.var} was removed. The next start creates a new database.")


def _agreed(folder: str) -> bool:
    """Ask on the terminal; without a terminal the answer is no."""
    try:
        answer = input(f"Remove {folder} with every account, round and balance in it? [y/N] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")
