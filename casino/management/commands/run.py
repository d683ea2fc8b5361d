"""`manage.py run`: open the house. Starts what it needs, prints where to play, and closes everything on Ctrl-C.

PORT chooses the port (8000). Logs are in var/log.
"""

import os
import signal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from casino.embedded import EmbeddedError
from casino.embedded.children import die_with_parent
from casino.launcher import CannotOpen, Launcher


class Command(BaseCommand):
    """Runs web, worker and beat, and what they stand on."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what only the Makefile gives."""
        parser.add_argument(
            "--with-parent", action="store_true", help="close when the process that started this is gone"
        )

    def handle(self, *args: Any, with_parent: bool, **options: Any) -> None:
        """Run until Ctrl-C. Raises CommandError if the house cannot open."""
        if with_parent:
            die_with_parent(signal.SIGTERM, os.getppid())
        try:
            Launcher(_port(), self._say).run()
        except (CannotOpen, EmbeddedError) as error:
            raise CommandError(str(error)) from error

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _port() -> int:
    """Read PORT. Raises CommandError."""
    text = os.environ.get("PORT") or "8000"
    if not text.isdecimal() or int(text) > 65_535:
        raise CommandError(f"PORT must be a number from 0 to 65535, not {text!r}.")
    return int(text)
