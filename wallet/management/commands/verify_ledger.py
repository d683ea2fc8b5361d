"""`manage.py verify_ledger`: check every invariant of the ledger and list the rows that break
it.
"""

from django.core.management.base import BaseCommand, CommandError

from wallet.invariants import verify


class Command(BaseCommand):
    """Check every invariant of the ledger. Exit status 1 if one does not hold."""

    help = __doc__ or ""

    def handle(self, *args: object, verbosity: int = 1, **options: object) -> None:
        """Check the invariants.

        Raises CommandError with every offending row if an invariant does not hold.
        """
        broken = []
        for check in verify.run():
            if check.rows:
                broken += [f"{check.invariant.name}: {row}" for row in check.rows]
            elif verbosity:
                self.stdout.write(f"holds: {check.invariant.meaning}")
        if broken:
            raise CommandError("The ledger is inconsistent.\n" + "\n".join(broken))
