"""`manage.py load_tables`: the tables that the house ships with."""

from django.core.management.base import BaseCommand

from games.tables.default_tables import load_tables


class Command(BaseCommand):
    """Makes and opens the shipped tables that are missing; those that exist stay as they are."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Run it."""
        load_tables()
