"""`manage.py list_guards`: write down what guards money in this database, just migrated, as what is due."""

from django.core.management.base import BaseCommand

from wallet.invariants import guards


class Command(BaseCommand):
    """For whoever has written a migration: its guards belong into ``wallet/guards.txt``."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Run it."""
        guards.LIST.write_text("\n".join(guards.standing()) + "\n")
