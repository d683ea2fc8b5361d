"""`manage.py load_demo`: load the data of a demo house. Repeated calls load nothing twice."""

from contextlib import suppress
from uuid import NAMESPACE_URL, uuid5

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from games.tables.default_tables import load_tables
from players.demo import create_demo_people
from players.models import Player
from wallet import cashier
from wallet.ledger import LimitReached, accounts
from wallet.models import Behaviour
from wallet.payments import deposits, notifications
from wallet.payments.sandbox import request_for
from wallet.sandbox_bank import orders

# Initial real-money balance of a demo player, in whole units of the currency.
WELCOME = 1_000
WELCOME_WITHIN_LIMITS = {"DE": 250}  # leaves room under the demo player's monthly limit
MINOR = 100


class Command(BaseCommand):
    """Create the demo users with some sandbox money, and the default tables."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Run the command. Raises CommandError in production."""
        if not settings.DEMO:
            raise CommandError("Not a demo installation. Set SABOT_DEMO=1 for a demo.")
        load_tables()
        create_demo_people()
        for player in Player.objects.filter(user__is_demo=True):
            accounts.open_accounts(player)
            _deposit(player)
            with suppress(cashier.NotEligible):  # the player may have taken a pause since
                cashier.top_up_free(player=player, key=uuid5(NAMESPACE_URL, f"sabot:demo:free:{player.pk}"))


def _deposit(player: Player) -> None:
    """Make a deposit at the sandbox bank, unless something prevents it, such as a pause or new
    terms.
    """
    key = uuid5(NAMESPACE_URL, f"sabot:demo:deposit:{player.pk}")
    with suppress(deposits.DepositNotEligible, LimitReached):
        amount = WELCOME_WITHIN_LIMITS.get(player.jurisdiction.code, WELCOME) * MINOR
        payment = deposits.begin(player=player, amount=amount, key=key)
        if payment.is_open:
            orders.answer(request=request_for(payment), said=orders.Answer.APPROVE, behaviour=Behaviour.NEVER)
            notifications.ask_about(payment.pk)
