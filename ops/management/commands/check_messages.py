"""`manage.py check_messages`: list all texts that a player would not see in their language."""

from django.core.management.base import BaseCommand, CommandError

from ops.i18n.catalogues import faults
from ops.i18n.sources import project


class Command(BaseCommand):
    """Check the texts.

    Exit status 1 if one is not extracted, missing, fuzzy, unused, broken, untranslated or hard-coded.
    """

    help = __doc__ or ""
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        """Run the check. Raises CommandError if there are faults."""
        found = list(faults(project()))
        for fault in found:
            self.stdout.write(str(fault))
        if found:
            raise CommandError(f"{len(found)} faults in the texts")
