"""`manage.py messages`: update the message catalogues from the texts in the sources."""

from django.core.management.base import BaseCommand

from ops.i18n import catalogues
from ops.i18n.sources import collect, project


class Command(BaseCommand):
    """Add new texts, remove unused ones, and keep every translation."""

    help = __doc__ or ""
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        """Run the command. Raises SyntaxError on a template with an invalid translation block."""
        tree = project()
        texts = collect(tree)
        for language in tree.languages:
            done = catalogues.update(tree.catalogue(language), texts, language)
            self.stdout.write(
                f"{language}: {done.texts} texts, {done.added} new, {done.dropped} dropped, "
                f"{done.untranslated} to translate"
            )
