"""`manage.py load_tables`: create the default tables of the house."""

from django.core.management.base import BaseCommand

from games.tables.default_tables import load_tables


class Command(BaseCommand):
    """Create and open the default tables that are missing; existing tables stay unchanged."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Run the command."""
        load_tables()
