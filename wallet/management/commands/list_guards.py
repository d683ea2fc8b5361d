"""`manage.py list_guards`: write the guards of a freshly migrated database to
``wallet/guards.txt``.
"""

from django.core.management.base import BaseCommand

from wallet.invariants import guards


class Command(BaseCommand):
    """Write ``wallet/guards.txt``. Run it after adding a migration."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Write the file."""
        guards.LIST.write_text("\n".join(guards.in_force()) + "\n")
