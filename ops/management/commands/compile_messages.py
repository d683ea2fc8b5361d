"""`manage.py compile_messages`: compile the message catalogues for Django."""

from django.core.management.base import BaseCommand

from ops.i18n import catalogues
from ops.i18n.sources import project


class Command(BaseCommand):
    """Compile every catalogue. Without its compiled file, a language shows English."""

    help = __doc__ or ""
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        """Run the command."""
        tree = project()
        for language in tree.languages:
            if tree.catalogue(language).exists():
                self.stdout.write(tree.name(catalogues.compile_catalogue(tree.catalogue(language), language)))
