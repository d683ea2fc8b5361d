"""`manage.py verify_program`: hold the files and the schema in force against the release, and record it."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from ops import program


class Command(BaseCommand):
    """Verify what runs here. Exit status 1 if anything differs from the release."""

    help = __doc__ or ""
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the digests and each difference."""
        found = program.verify("command")
        here = program.Program.here()
        self.stdout.write(f"code {here.code}\nschema {here.schema_digest}")
        for difference in found:
            self.stderr.write(difference)
        sys.exit(1 if found else 0)
