"""Money that goes into a game that has a balance of its own, and out of it, by programs."""

from typing import Any
from uuid import uuid4

from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games.api import shapes
from games.api.codes import AT_A_TABLE
from games.api.shapes import Json, currency
from games.api.solo import AtSoloTable
from games.models import Table
from games.solo.purse_views import take_place
from games.solo.seats import ON_A_PURSE
from games.tables.access import demand_playable
from players.api import schema
from players.api.problems import Problem
from players.api.reading import MinorUnits, Strict, body_of
from players.api.schema import example
from wallet.ledger import accounts, purse
from wallet.models import Mode


@example(amount=20000)
class RebuyBody(Strict):
    """Money that goes from the account into the game."""

    amount = MinorUnits(help_text="in minor units")


@example(amount=20000, balance=20000, account=230000, currency="SEK")
class MovedSchema(serializers.Serializer[Any]):
    """Money that was moved between the account and the game."""

    amount = shapes.amount("what was moved")
    balance = shapes.amount("what lies in the game now")
    account = shapes.amount("what lies on the account now")
    currency = currency()


class AtPurse(AtSoloTable):
    """A view for the balance of a game, whatever the shape of its table."""

    def table(self, slug: str) -> Table:
        """Return the table. Raises Http404 where its game has no balance of its own."""
        return get_object_or_404(Table.objects.select_related("version"), slug=slug, variant__in=ON_A_PURSE)

    def moved(self, moved: int, mode: Mode) -> Json:
        """Return what was moved, and where everything is now."""
        player = self.player
        return {
            "amount": moved,
            "balance": purse.balance(player, mode),
            "account": accounts.balance(player.pk, mode),
            "currency": player.currency,
        }


class Rebuy(AtPurse):
    """Money into the game."""

    @extend_schema(
        operation_id="purse_rebuy",
        request=RebuyBody,
        responses={200: MovedSchema} | schema.refusals("balance-too-low", *AT_A_TABLE),
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Move money from your account into a game that has a balance of its own; 404 at any other."""
        asked = body_of(request, RebuyBody)
        table, player = self.table(slug), self.player
        self.session()

        def fill() -> Json:
            demand_playable(table, player, mode)
            try:
                with transaction.atomic():  # who is refused has taken no place
                    take_place(player, table, mode)
                    purse.rebuy(player=player, mode=mode, amount=asked["amount"], key=uuid4())  # `once` has the key
            except purse.MoreThanBalance as error:
                raise Problem("balance-too-low", str(error)) from error
            except purse.PurseError as error:
                raise Problem("barred", str(error)) from error
            return self.moved(asked["amount"], mode)

        return self.do(table, mode, fill)


class Leave(AtPurse):
    """Money out of the game."""

    @extend_schema(operation_id="purse_leave", request=None, responses={200: MovedSchema})
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Move all that is left in the game back to your account; a table that you cannot play holds nothing back."""
        body_of(request, Strict)
        table, player = self.table(slug), self.player
        self.session()

        return self.do(table, mode, lambda: self.moved(purse.leave(player=player, mode=mode, key=uuid4()).amount, mode))
