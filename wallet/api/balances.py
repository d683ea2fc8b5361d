"""Player API: balances, with the figures of the cashier."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from players.api.schema import example
from players.api.views import PlayerApiView
from players.models import Scope
from wallet.ledger import accounts
from wallet.models import AccountKind, Currency, Mode


class HasSchema(serializers.Serializer[Any]):
    """Balances of one mode, in whole minor units of the currency."""

    cash = serializers.IntegerField(help_text="the balance of the account, what is held for bets included")
    in_play = serializers.IntegerField(help_text="of all balances: set aside for bets and bids at live tables")
    purse = serializers.IntegerField(help_text="in games with a balance of their own")
    bank = serializers.IntegerField(help_text="in banks held at Chemin de Fer")
    pending = serializers.IntegerField(help_text="in withdrawals that are not paid out yet")


@example(
    currency="SEK",
    real={"cash": 250000, "in_play": 5000, "purse": 0, "bank": 0, "pending": 0},
    free={"cash": 1000000, "in_play": 0, "purse": 0, "bank": 0, "pending": 0},
)
class BalancesSchema(serializers.Serializer[Any]):
    """The player's balances."""

    currency = serializers.ChoiceField(choices=Currency.values, help_text="ISO 4217; each has a hundred minor units")
    real = HasSchema()
    free = HasSchema(help_text="money to play with that is none")


class Balances(PlayerApiView):
    """The player's balances."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="balances", responses=BalancesSchema)
    def get(self, request: Request) -> Response:
        """Read your balances of real and of free money."""
        player = self.player
        found = accounts.totals(player.pk)
        places = {
            "cash": found.balances(),
            "in_play": found.held,
            "purse": found.balances(AccountKind.PURSE),
            "bank": found.in_banks,
            "pending": found.balances(AccountKind.PENDING),
        }
        has = {mode.name.lower(): {name: amounts.get(mode, 0) for name, amounts in places.items()} for mode in Mode}
        return Response({"currency": player.currency} | has)
