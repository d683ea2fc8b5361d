"""API of solo tables: the seat, its bet slip, rounds on demand, and the balance of a game.

It uses the services of the page. A seat is opened before anything is staked, because it commits to
its next round. Opening a seat needs the scope for play; reading it changes nothing.
"""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import uuid4

from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games import history, solo
from games.api import shapes
from games.api.problems import AT_A_TABLE, DEALING, SLIP, demand_api_client_may_play, refusals
from games.api.shapes import Json, amount, amounts, currency
from games.betting.rules import Change, Deal, plays_on
from games.models import Shape, SoloSeat, Table
from games.solo import operator_money, seats
from games.solo.page import part_just_played, participation, table_limits
from games.solo.seats import ON_A_PURSE
from games.solo.views import prepare_seat
from games.tables.access import SoloTableId, demand_eligible, demand_playable, solo_table_id, table_at
from games.variants import VARIANTS
from players.api import schema
from players.api.calls import once
from players.api.problems import Problem, register
from players.api.reading import Flag, Id, MinorUnits, Strict, Text, Whole, body_of
from players.api.schema import Link, Linked, example
from players.api.views import PlayerApiView
from players.models import Scope
from players.protection import registers
from wallet import house_stop
from wallet.ledger import accounts, purse
from wallet.models import AccountKind, Mode
from wallet.operator_wallet.operators import funds

NO_SEAT = register("no-seat", 404, _("You have no seat at this table yet"))
LARGEST_NUMBER = 2**31 - 1  # of versions
HERE = {"slug": "$request.path.slug", "mode": "$request.path.mode"}


class Versioned(Strict):
    """A call under one table version."""

    table_version = Whole(min_value=1, max_value=LARGEST_NUMBER, help_text="as the table was read; refused at another")


@example(table_version=3, bet="player", chip=5000)
class ChipBody(Versioned):
    """One chip to put on a bet or to take off."""

    bet = Text(max_length=20, help_text="its code")
    chip = MinorUnits(help_text="one of the table's chips, in minor units")
    take = Flag(default=False, help_text="take it off, where the game has that")


@example(table_version=3, change="undo")
class ChangeBody(Versioned):
    """A change of the whole slip."""

    change = serializers.ChoiceField(choices=[each.value for each in Change])


class ToDeal(Versioned):
    """A round to deal."""

    round_id = Id(help_text="of the seat's next round: the same again deals nothing twice")
    player_value = Text(
        max_length=64,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="mixed into the shuffle of this round, if you like",
    )


@example(table_version=3, round_id="0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", slip_version=2)
class DealBody(ToDeal):
    """Deal the slip as it is."""

    slip_version = Whole(min_value=0, max_value=LARGEST_NUMBER, help_text="of the seat; refused at another")
    how = serializers.ChoiceField(choices=[each.value for each in Deal], default=Deal.AS_PLACED.value)


@example(table_version=3, round_id="0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", bets={"player": 5000, "tie": 1000})
class RoundBody(ToDeal):
    """A whole round with its stakes. The slip is ignored."""

    bets = serializers.DictField(
        child=MinorUnits(),
        help_text="bet → stake in minor units: within the table's limits and of its step, not bound to its chips",
    )


@example(
    round_id="0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b",
    commitment="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    table_id=7,
    decks=8,
    rules_digest="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    table_version=3,
    status="open",
    currency="SEK",
    balance=250000,
    slip={"player": 5000},
    slip_version=2,
    staked=5000,
    can_undo=True,
    last_stakes={"player": 5000},
    last_round=None,
    chips=[1000, 5000, 10000],
    step=1000,
    minimum={"player": 1000, "banker": 1000},
    maximum={"player": 1000000, "banker": 1000000},
    account=None,
)
class SoloSeatSchema(serializers.Serializer[Any]):
    """A seat at a solo table. All windows and API clients of a player share it."""

    round_id = serializers.UUIDField(help_text="of the round that a deal would play")
    commitment = serializers.CharField(help_text="to the seed of that round, hex: keep it, and compare it afterwards")
    table_id = serializers.IntegerField(help_text="the number of the table, which the commitment names")
    decks = serializers.IntegerField(help_text="which the commitment names")
    rules_digest = serializers.CharField(help_text="SHA-256 of the rules, which the commitment names")
    table_version = serializers.IntegerField()
    status = serializers.ChoiceField(choices=("open", "paused", "closed"), help_text="bets are taken where it is open")
    currency = currency()
    balance = amount("what there is to play with, the slip included")
    slip = amounts("chips on the table, by bet")
    slip_version = serializers.IntegerField(help_text="counts the changes of the slip")
    staked = amount("the sum of the slip")
    can_undo = serializers.BooleanField()
    last_stakes = amounts("what a rebet places")
    last_round = serializers.UUIDField(allow_null=True, help_text="the latest played here")
    chips = serializers.ListField(child=serializers.IntegerField(), help_text=shapes.AMOUNT)
    step = amount("every stake is a multiple of it")
    minimum = amounts("the least that may be staked")
    maximum = amounts("the most")
    account = amount("what a re-buy can draw on; null where the game has no balance of its own", allow_null=True)


class PlayedSchema(serializers.Serializer[Any]):
    """A round that has just been played."""

    round = shapes.OwnRoundSchema()
    repeated = serializers.BooleanField(help_text="it had been played before this call, which moved nothing")
    solo_seat = SoloSeatSchema(help_text="committed to the next round")


SEAT_LINKS = {
    "chip": Link("solo_seat_chip", HERE, {"table_version": "$response.body#/table_version"}),
    "change": Link("solo_seat_change", HERE, {"table_version": "$response.body#/table_version"}),
    "deal": Link(
        "solo_seat_deal",
        HERE,
        {
            "round_id": "$response.body#/round_id",
            "slip_version": "$response.body#/slip_version",
            "table_version": "$response.body#/table_version",
        },
    ),
    "round": Link(
        "round_play",
        HERE,
        {"round_id": "$response.body#/round_id", "table_version": "$response.body#/table_version"},
    ),
}
A_SEAT = {200: Linked(SoloSeatSchema, **SEAT_LINKS)}
PLAYED = {200: Linked(PlayedSchema, replay=Link("round", {"round_id": "$response.body#/round/id"}))}


class AtSoloTable(PlayerApiView):
    """A view for one solo table and one kind of money."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.PLAY}

    def do(self, table: Table | SoloTableId, mode: Mode, service: Callable[[], Json]) -> Response:
        """Run the service once and answer with its result, or with the table's refusal."""

        def act() -> Response:
            with refusals(VARIANTS[table.variant], mode):
                return Response(service())

        return once(self.request, act)

    def played(self, slug: str, mode: Mode, asked: Json) -> Response:
        """Play a round and answer with it. Raises Http404."""
        table, player, session = solo_table_id(slug), self.player, self.session()
        registers.ask_where_due(player)  # outside the transaction

        def play() -> Json:
            demand_api_client_may_play(player, mode)
            played = operator_money.play(
                solo.Click(player=player, table_id=table.pk, mode=mode, session=session, **asked)
            )
            part = part_just_played(played) or participation(played.round_id, player.pk)
            assert part is not None  # noqa: S101  (it was just played, or found to be theirs)
            line = history.line_of(part, self.language())
            return {
                "round": shapes.finished(line),
                "repeated": played.repeated,
                "solo_seat": seat(played.seat, balance=None if played.repeated else line.balance_after),
            }

        return self.do(table, mode, play)


class SoloTable(AtSoloTable):
    """A seat at a solo table."""

    @extend_schema(operation_id="solo_seat", responses=A_SEAT | schema.refusals(NO_SEAT, *AT_A_TABLE))
    def get(self, request: Request, slug: str, mode: Mode) -> Response:
        """Read your seat: the next round, the slip and the limits."""
        table = solo_table_id(slug)
        with refusals(VARIANTS[table.variant], mode):
            found = seats.read(self.player, table.pk, mode)
            if found is None:
                raise Problem(NO_SEAT)
            return Response(seat(found))

    @extend_schema(operation_id="solo_seat_open", request=None, responses=A_SEAT | schema.refusals(*AT_A_TABLE))
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Open your seat, or return it.

        If your jurisdiction allows only one table, this becomes that table.
        """
        body_of(request, Strict)
        table, player, session = table_at(slug), self.player, self.session()
        if table.shape != Shape.SOLO:
            raise Http404
        registers.ask_where_stale(player)  # outside the transaction

        def open_seat() -> Json:
            demand_playable(table, player, mode)
            demand_eligible(player, mode, session)
            return seat(solo.open_table(player=player, table_id=table.pk, mode=mode))

        return self.do(table, mode, open_seat)


class SoloChip(AtSoloTable):
    """Chips on the table."""

    @extend_schema(operation_id="solo_seat_chip", request=ChipBody, responses=A_SEAT | schema.refusals(*SLIP))
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Put one chip on a bet, or take one off. Nothing is staked before the deal."""
        asked = body_of(request, ChipBody)
        table, player = solo_table_id(slug), self.player
        self.session()
        move = solo.take_chip if asked.pop("take") else solo.add_chip
        return self.do(table, mode, lambda: seat(move(player=player, table_id=table.pk, mode=mode, **asked)))


class SoloChange(AtSoloTable):
    """The whole slip."""

    @extend_schema(operation_id="solo_seat_change", request=ChangeBody, responses=A_SEAT | schema.refusals(*SLIP))
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Undo the latest change, clear, double, repeat the last bets, or lower them.

        Lowering reduces the bets to what your balance covers.
        """
        asked = body_of(request, ChangeBody)
        table, player, change = solo_table_id(slug), self.player, Change(asked.pop("change"))
        self.session()
        return self.do(
            table,
            mode,
            lambda: seat(solo.change_slip(player=player, table_id=table.pk, mode=mode, change=change, **asked)),
        )


class SoloDeal(AtSoloTable):
    """The deal."""

    @extend_schema(operation_id="solo_seat_deal", request=DealBody, responses=PLAYED | schema.refusals(*DEALING))
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Stake the slip, deal, settle and pay in one call.

        The answer has the finished round and the commitment to the next one.
        """
        asked = body_of(request, DealBody)
        return self.played(slug, mode, asked | {"how": Deal(asked["how"])})


class Rounds(AtSoloTable):
    """Rounds played in one call."""

    @extend_schema(operation_id="round_play", request=RoundBody, responses=PLAYED | schema.refusals(*DEALING))
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Stake these bets instead of the slip, deal, settle and pay.

        A refusal does not change the slip.
        """
        asked = body_of(request, RoundBody)
        return self.played(slug, mode, asked | {"slip_version": None})


def seat(found: SoloSeat, *, balance: int | None = None) -> Json:
    """Return a seat as JSON. *balance* is the balance of its account, if known. Raises TableClosed."""
    mode, kind, limits = Mode(found.mode), plays_on(VARIANTS[found.table.variant]), table_limits(found)
    known = found.known
    is_stopped = house_stop.current() is not None if known is None else known.is_stopped
    is_open, is_paused = seats.as_shown(found.table, mode, is_house_stopped=is_stopped)
    return {
        "round_id": found.round_id,
        "commitment": found.commitment,
        "table_id": found.table_id,
        "decks": VARIANTS[found.table.variant].decks,
        "rules_digest": found.rules_digest,
        "table_version": found.table.version and found.table.version.number,
        "status": "open" if is_open else "paused" if is_paused else "closed",
        "currency": limits.currency,
        "balance": funds(found.player, mode, kind) if balance is None else balance,
        "slip": found.slip,
        "slip_version": found.slip_version,
        "staked": sum(found.slip.values()),
        "can_undo": bool(found.undo),
        "last_stakes": found.last_stakes,
        "last_round": found.last_round,
        "chips": list(limits.chips),
        "step": limits.step,
        "minimum": {bet: allowed.minimum for bet, allowed in limits.bets.items()},
        "maximum": {bet: allowed.maximum for bet, allowed in limits.bets.items()},
        "account": accounts.balance(found.player_id, mode) if kind is AccountKind.PURSE else None,
    }


@example(amount=20000)
class RebuyBody(Strict):
    """An amount to move from the account into the game."""

    amount = MinorUnits(help_text="in minor units")


@example(amount=20000, balance=20000, account=230000, currency="SEK")
class TransferSchema(serializers.Serializer[Any]):
    """An amount that was moved between the account and the game."""

    amount = shapes.amount("the amount that was transferred")
    balance = shapes.amount("balance of the game now")
    account = shapes.amount("balance of the account now")
    currency = currency()


class AtPurse(AtSoloTable):
    """A view for the balance of a game at a table of any shape."""

    def table(self, slug: str) -> Table:
        """Return the table. Raises Http404 if its game has no balance of its own."""
        return get_object_or_404(Table.objects.select_related("version"), slug=slug, variant__in=ON_A_PURSE)

    def transferred(self, amount: int, mode: Mode) -> Json:
        """Return the amount moved and the balances after it."""
        player = self.player
        return {
            "amount": amount,
            "balance": purse.balance(player, mode),
            "account": accounts.balance(player.pk, mode),
            "currency": player.currency,
        }


class Rebuy(AtPurse):
    """Money into the game."""

    @extend_schema(
        operation_id="purse_rebuy",
        request=RebuyBody,
        responses={200: TransferSchema} | schema.refusals("balance-too-low", *AT_A_TABLE),
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Move money from your account into a game that has its own balance. 404 for other games."""
        asked = body_of(request, RebuyBody)
        table, player = self.table(slug), self.player
        self.session()

        def fill() -> Json:
            demand_playable(table, player, mode)
            try:
                with transaction.atomic():  # a refused player does not get a seat
                    prepare_seat(player, table, mode)
                    purse.rebuy(player=player, mode=mode, amount=asked["amount"], key=uuid4())  # `once` has the key
            except purse.MoreThanBalance as error:
                raise Problem("balance-too-low", str(error)) from error
            except purse.PurseError as error:
                raise Problem("not-eligible", str(error)) from error
            return self.transferred(asked["amount"], mode)

        return self.do(table, mode, fill)


class Leave(AtPurse):
    """Money out of the game."""

    @extend_schema(operation_id="purse_leave", request=None, responses={200: TransferSchema})
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Move the whole balance of the game back to your account.

        Works even if you cannot play the table.
        """
        body_of(request, Strict)
        table, player = self.table(slug), self.player
        self.session()

        return self.do(
            table, mode, lambda: self.transferred(purse.leave(player=player, mode=mode, key=uuid4()).amount, mode)
        )
