"""`manage.py compile_messages`: make the files that Django reads from the catalogues."""

from django.core.management.base import BaseCommand

from ops.i18n import catalogues
from ops.i18n.sources import project


class Command(BaseCommand):
    """Compiles every catalogue; without its compiled file a language shows English."""

    help = __doc__ or ""
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        """Run the command."""
        tree = project()
        for language in tree.languages:
            if tree.catalogue(language).exists():
                self.stdout.write(tree.name(catalogues.compile_catalogue(tree.catalogue(language), language)))
