"""`manage.py load_demo`: what a demo house needs to be played in, loaded once however often it is called."""

from uuid import NAMESPACE_URL, uuid5

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from games.shipped import load_tables
from players.demo import create_demo_people
from players.models import Player
from wallet import accounts, cashier

# Whole units of the player's currency that lie on a demo player's real-money account at first.
WELCOME = 1_000
MINOR = 100


class Command(BaseCommand):
    """Makes the demo people with some sandbox money, and the shipped tables."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Run it. Raises CommandError in production."""
        if not settings.DEMO:
            raise CommandError("This house is not a demo: set SABOT_DEMO=1 if it should be.")
        load_tables()
        create_demo_people()
        for player in Player.objects.filter(user__is_demo=True):
            accounts.open_accounts(player)
            cashier.sandbox_deposit(
                player=player, amount=WELCOME * MINOR, key=uuid5(NAMESPACE_URL, f"sabot:demo:deposit:{player.pk}")
            )
            cashier.top_up_free(player=player, key=uuid5(NAMESPACE_URL, f"sabot:demo:free:{player.pk}"))
