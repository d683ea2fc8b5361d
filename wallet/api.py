"""Player API for balances and limits.

A stricter limit takes effect at once, a looser one when the player's jurisdiction allows it.
"""

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Any, ClassVar

from django.urls import path
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from players.api import schema
from players.api.calls import once
from players.api.problems import Problem, register
from players.api.reading import LARGEST, Strict, Whole, body_of, page
from players.api.schema import example
from players.api.views import PlayerApiView
from players.models import LimitChange, LimitKind, LimitSource, Period, Player, Scope
from players.protection import limits as services
from players.protection.limits import LAW, LIMIT_KINDS
from wallet.ledger import accounts
from wallet.limits import REQUIRED, used
from wallet.models import AccountKind, Currency, Mode


class HasSchema(serializers.Serializer[Any]):
    """Balances of one mode, in whole minor units of the currency."""

    cash = serializers.IntegerField(help_text="the balance of the account, what is held for bets included")
    in_play = serializers.IntegerField(help_text="of all balances: set aside for bets and bids at live tables")
    purse = serializers.IntegerField(help_text="in games with a balance of their own")
    bank = serializers.IntegerField(help_text="in banks held at Chemin de Fer")
    pending = serializers.IntegerField(help_text="in withdrawals that are not paid out yet")
    refund = serializers.IntegerField(help_text="in deposits that were not allowed and are sent back")


@example(
    currency="SEK",
    real={"cash": 250000, "in_play": 5000, "purse": 0, "bank": 0, "pending": 0, "refund": 0},
    free={"cash": 1000000, "in_play": 0, "purse": 0, "bank": 0, "pending": 0, "refund": 0},
)
class BalancesSchema(serializers.Serializer[Any]):
    """The player's balances."""

    currency = serializers.ChoiceField(choices=Currency.values, help_text="ISO 4217; each has a hundred minor units")
    real = HasSchema()
    free = HasSchema(help_text="free-play money, which has no value")


class Balances(PlayerApiView):
    """The player's balances."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="balances", responses=BalancesSchema)
    def get(self, request: Request) -> Response:
        """Read your balances of real and of free money."""
        player = self.player
        found = accounts.totals(player.pk)
        balances = {
            "cash": found.balances(),
            "in_play": found.held,
            "purse": found.balances(AccountKind.PURSE),
            "bank": found.in_banks,
            "pending": found.balances(AccountKind.PENDING),
            "refund": found.balances(AccountKind.REFUND),
        }
        has = {mode.name.lower(): {name: amounts.get(mode, 0) for name, amounts in balances.items()} for mode in Mode}
        return Response({"currency": player.currency} | has)


NOTHING_CHANGES = register("nothing-changes", HTTPStatus.CONFLICT, gettext_lazy("Nothing was changed."))
LIMIT_REQUIRED = register("limit-required", HTTPStatus.CONFLICT, gettext_lazy("This limit is required"))
AMOUNT = "minor units of the currency; of time, seconds"
SIZES = ", ".join(f"of {kind} in whole {each.unit.name}" for kind, each in LIMIT_KINDS.items() if each.unit)
SOURCES = [*LimitSource.values, LAW]


@example(kind="deposit", period="week")
class WhichLimit(Strict):
    """A kind and period of limit."""

    kind = serializers.ChoiceField(choices=LimitKind.values)
    period = serializers.ChoiceField(choices=Period.values)


@example(kind="deposit", period="week", amount=500000)
class LimitBody(WhichLimit):
    """A limit to set."""

    amount = Whole(min_value=1, max_value=LARGEST, allow_null=True, help_text=f"{AMOUNT}, {SIZES}; null removes it")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject an amount that is not in whole units, or more than its period allows."""
        amount, unit = attrs["amount"], LIMIT_KINDS[attrs["kind"]].unit
        if unit is None or amount is None:
            return attrs
        most = unit.most[Period(attrs["period"])]
        if amount % unit.size or amount > most * unit.size:
            message = str(unit.error) % {"most": most}
            raise serializers.ValidationError({"amount": [serializers.ErrorDetail(message, code=unit.name)]})
        return attrs


@example(kind="deposit", period="week", amount=500000, effective_at="2026-11-24T12:00:00Z", needs_confirmation=False)
class ChangeSchema(serializers.Serializer[Any]):
    """A change of one of the player's own limits."""

    kind = serializers.ChoiceField(choices=LimitKind.values)
    period = serializers.ChoiceField(choices=Period.values)
    amount = serializers.IntegerField(allow_null=True, help_text=f"{AMOUNT}; null: no limit")
    effective_at = serializers.DateTimeField(help_text="from when on it holds, or can be confirmed")
    needs_confirmation = serializers.BooleanField(help_text="whether it holds only once the player confirms it then")


class LimitSchema(serializers.Serializer[Any]):
    """The limit of one kind and period: amount, source and usage."""

    kind = serializers.ChoiceField(
        choices=LimitKind.values, help_text="; ".join(f"{kind}: {each.counts}" for kind, each in LIMIT_KINDS.items())
    )
    period = serializers.ChoiceField(choices=Period.values)
    amount = serializers.IntegerField(allow_null=True, help_text=f"what holds, in {AMOUNT}; null: no limit")
    whose = serializers.ChoiceField(choices=SOURCES, allow_null=True, help_text="whose the limit that holds is")
    own = serializers.IntegerField(allow_null=True, help_text=f"the player's own, in {AMOUNT}; null: none")
    used = serializers.IntegerField(help_text=f"in the running period, in {AMOUNT}; below zero where losses were won")
    left = serializers.IntegerField(allow_null=True, help_text=f"in {AMOUNT}; null: no limit")
    ends_at = serializers.DateTimeField(help_text="when the running period ends")
    is_required = serializers.BooleanField(help_text="whether the player may not play without one of their own")
    waiting = ChangeSchema(allow_null=True, help_text="a change of the player's own that is to come")


class LimitsSchema(serializers.Serializer[Any]):
    """All limits of the player."""

    currency = serializers.ChoiceField(choices=Currency.values, help_text="ISO 4217; each has a hundred minor units")
    must_set = serializers.BooleanField(help_text="whether play waits for the required ones")
    may_decline = serializers.BooleanField(
        help_text="whether play waits for limits, or for the word that none are wanted"
    )
    items = LimitSchema(many=True)
    next = serializers.CharField(allow_null=True, help_text="always null: the list has one page")


class PlayerLimitsView(PlayerApiView):
    """Base of the limit views. Reading needs the scope READ, setting the scope LIMITS."""

    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.LIMITS}

    def change(self, do: Callable[[], LimitChange]) -> Response:
        """Execute a change once and respond with it."""
        self.session()

        def act() -> Response:
            try:
                return Response(_change(do()))
            except services.NothingChanges as error:
                raise Problem(NOTHING_CHANGES) from error
            except services.LimitRequired as error:
                raise Problem(LIMIT_REQUIRED, str(REQUIRED)) from error

        return once(self.request, act)


class Limits(PlayerLimitsView):
    """The player's limits."""

    @extend_schema(operation_id="limits", responses=LimitsSchema)
    def get(self, request: Request) -> Response:
        """Read every limit: amount, source, what is used, what is left, and pending changes."""
        return Response(limits(self.player))

    @extend_schema(
        operation_id="limit_set",
        request=LimitBody,
        responses={200: ChangeSchema} | schema.refusals(NOTHING_CHANGES, LIMIT_REQUIRED),
    )
    def post(self, request: Request) -> Response:
        """Set or remove one of your own limits.

        A stricter limit holds at once. Until a looser one holds, the current one does. A change
        that was pending is withdrawn.
        """
        asked, player = body_of(request, LimitBody), self.player
        kind, period, amount = LimitKind(asked["kind"]), Period(asked["period"]), asked["amount"]
        return self.change(
            lambda: services.set_limit(player=player, kind=kind, period=period, amount=amount, by=str(player))
        )


class LimitWithdrawal(PlayerLimitsView):
    """Withdrawal of a pending change."""

    @extend_schema(
        operation_id="limit_withdraw",
        request=WhichLimit,
        responses={200: ChangeSchema} | schema.refusals(NOTHING_CHANGES),
    )
    def post(self, request: Request) -> Response:
        """Withdraw a pending change. The current limit continues."""
        asked, player = body_of(request, WhichLimit), self.player
        kind, period = LimitKind(asked["kind"]), Period(asked["period"])
        return self.change(lambda: services.withdraw_change(player=player, kind=kind, period=period, by=str(player)))


class LimitConfirmation(PlayerLimitsView):
    """Confirmation of a looser limit whose wait is over."""

    @extend_schema(
        operation_id="limit_confirm",
        request=WhichLimit,
        responses={200: ChangeSchema} | schema.refusals(NOTHING_CHANGES),
    )
    def post(self, request: Request) -> Response:
        """Confirm a looser limit that waits for nothing else. It holds at once."""
        asked, player = body_of(request, WhichLimit), self.player
        kind, period = LimitKind(asked["kind"]), Period(asked["period"])
        return self.change(lambda: services.confirm_change(player=player, kind=kind, period=period, by=str(player)))


class LimitsDeclined(PlayerLimitsView):
    """Refusal of the offer of limits."""

    @extend_schema(operation_id="limits_decline", request=None, responses=LimitsSchema)
    def post(self, request: Request) -> Response:
        """Decline the offer of deposit limits. You are not asked again."""
        body_of(request, Strict)
        player = self.player
        self.session()

        def decline() -> Response:
            services.decline_offer(player=player)
            return Response(limits(player))

        return once(request, decline)


def limits(player: Player) -> dict[str, Any]:
    """Return all limits as on the player's limits page, as figures."""
    return {
        "currency": player.currency,
        "must_set": services.must_set_limits(player),
        "may_decline": services.should_offer(player),
    } | page(_items(player), None)


def _items(player: Player) -> list[dict[str, Any]]:
    holding, own, coming = services.limits_of(player), services.own_limits(player), services.pending(player)
    counted, ends, required = used(player), services.period_ends(player), services.required(player)
    return [
        _limit(kind, period, holding.get((kind, period)), counted.get((kind, period), 0), ends[period])
        | {
            "own": own.get((kind, period)),
            "is_required": (kind, period) in required,
            "waiting": _change(coming[kind, period]) if (kind, period) in coming else None,
        }
        for kind in LimitKind
        for period in Period
    ]


def _limit(
    kind: LimitKind, period: Period, limit: services.Limit | None, counted: int, ends: datetime
) -> dict[str, Any]:
    return {
        "kind": kind.value,
        "period": period.value,
        "amount": limit.amount if limit else None,
        "whose": limit.source if limit else None,
        "used": counted,
        "left": max(limit.amount - counted, 0) if limit else None,
        "ends_at": ends,
    }


def _change(change: LimitChange) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "period": change.period,
        "amount": change.amount,
        "effective_at": change.effective_at,
        "needs_confirmation": change.needs_confirmation,
    }


urlpatterns = [
    path("balances/", Balances.as_view(), name="balances"),
    path("limits/", Limits.as_view(), name="limits"),
    path("limits/withdrawn/", LimitWithdrawal.as_view(), name="limit_withdraw"),
    path("limits/confirmed/", LimitConfirmation.as_view(), name="limit_confirm"),
    path("limits/declined/", LimitsDeclined.as_view(), name="limits_decline"),
]
