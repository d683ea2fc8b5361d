"""API of the lobby and of one table, as a player sees them."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import replica
from games.api import shapes
from games.api.problems import problem_of
from games.api.shapes import Json, amount, amounts, currency, kind_of_money, shape_of_table
from games.betting.eligibility import is_played_for
from games.betting.limits import Limits
from games.chemin.pages.lobby_card import CheminCardState
from games.engine.bets import BetRule, Variant
from games.errors import NotEligible
from games.labels import bet_name, variant_label
from games.lobby import selectors
from games.lobby.selectors import favourite_tables
from games.models import LiveTable, Shape, Table
from games.shared.pages.lobby_card import CardState, LobbyCard
from games.solo.seats import as_shown
from games.tables.access import UNPLAYABLE, demand_eligible, demand_playable
from games.tables.chemin_rules import CheminRules
from games.variants import GAMES, VARIANTS
from players.api.reading import Strict, page, query_of
from players.api.schema import Link, Linked, page_of
from players.api.views import PlayerApiView
from players.models import Player, Scope
from wallet import house_stop
from wallet.models import Mode

STATUSES = ("open", "paused", "stopped", "closed")


class LobbyQuery(Strict):
    """Filter of the list of tables."""

    mode = serializers.ChoiceField(choices=shapes.MODES, default="real")


class TableFactsSchema(serializers.Serializer[Any]):
    """A table and its current state."""

    slug = serializers.SlugField()
    mode = kind_of_money()
    name = serializers.CharField()
    variant = serializers.SlugField(help_text="of its game")
    game = serializers.CharField(help_text="its game's name, in the language asked for")
    shape = shape_of_table()
    status = serializers.ChoiceField(
        choices=STATUSES, help_text="stopped: while a malfunction is looked into; paused: no round begins for now"
    )
    decks = serializers.IntegerField()
    is_favourite = serializers.BooleanField()
    players = serializers.IntegerField(
        allow_null=True, help_text="with bets in this round or the one before, or at seats; null at a solo table"
    )
    seats = serializers.IntegerField(allow_null=True, help_text="seats at a Chemin de Fer table; null elsewhere")
    bank = amount("the bank in play at Chemin de Fer; null if there is none", allow_null=True)


class LobbyTableSchema(TableFactsSchema):
    """A table in the lobby."""

    currency = currency()
    minimum = amount("the least on Player and on Banker, or the least bank at Chemin de Fer")
    maximum = amount("the most")


class PrizeSchema(serializers.Serializer[Any]):
    """The payout of a bet under a condition. The first condition that holds decides."""

    when = serializers.CharField(help_text="code of the condition")
    name = serializers.CharField(help_text="in the language asked for")
    pays = serializers.CharField(help_text='the gain per unit staked, an exact fraction: "19/20"; "0/1" is a push')


class TableBetSchema(serializers.Serializer[Any]):
    """A bet of a table. The payout of each winning bet is rounded down to the minor unit."""

    bet = serializers.CharField(help_text="its code")
    name = serializers.CharField(help_text="in the language asked for")
    prizes = PrizeSchema(many=True)
    needs = serializers.ListField(child=serializers.CharField(), help_text="one of these must be placed with it")
    excludes = serializers.ListField(child=serializers.CharField(), help_text="none of these may be placed with it")


class TableLimitsSchema(serializers.Serializer[Any]):
    """The limits for stakes, in the player's currency."""

    currency = currency()
    step = amount("every stake is a multiple of it")
    chips = serializers.ListField(child=serializers.IntegerField(), help_text=shapes.AMOUNT)
    minimum = amounts("the least that may be staked")
    maximum = amounts("the most")
    liability = amount("the most that all bets of a round may cost the house; null: no such limit", allow_null=True)


class CheminLimitsSchema(serializers.Serializer[Any]):
    """The limits of a Chemin de Fer table, in its currency."""

    currency = currency()
    seats = serializers.IntegerField()
    house_players = serializers.IntegerField(help_text="seats that the house plays, for free money alone")
    minimum = amount("the smallest bank")
    maximum = amount("the largest bank")


class ObstacleSchema(serializers.Serializer[Any]):
    """The reason why the player cannot play here; a stake would be refused with it."""

    code = serializers.CharField()
    detail = serializers.CharField(help_text="in the language asked for")
    ineligibility = serializers.CharField(allow_null=True, help_text="of `not-eligible`: the reason, as a code")


class TableSchema(TableFactsSchema):
    """A table with its rules and limits."""

    version = serializers.IntegerField(help_text="of limits and rules: send it with each bet")
    rules_version = serializers.CharField()
    rules_digest = serializers.CharField(help_text="SHA-256 of the rules the version was put live with")
    bets = TableBetSchema(many=True, help_text="none at a Chemin de Fer table")
    controls = serializers.ListField(child=serializers.CharField(), help_text="what may be done with bets")
    limits = TableLimitsSchema(
        allow_null=True, help_text="null at a Chemin de Fer table, and where it is not for your currency"
    )
    chemin = CheminLimitsSchema(allow_null=True, help_text="null except at a Chemin de Fer table")
    clock = serializers.DictField(
        child=serializers.IntegerField(), allow_null=True, help_text="milliseconds; null at a solo table"
    )
    obstacle = ObstacleSchema(allow_null=True, help_text="null where nothing keeps you from playing")


FIRST = {"slug": "$response.body#/items/0/slug", "mode": "$response.body#/items/0/mode"}
TABLE_LINKS = {
    "solo_seat_open": Link("solo_seat_open", {"slug": "$response.body#/slug", "mode": "$response.body#/mode"}),
    "solo_seat": Link("solo_seat", {"slug": "$response.body#/slug", "mode": "$response.body#/mode"}),
    "state": Link("table_state", {"slug": "$response.body#/slug", "mode": "$response.body#/mode"}),
    "rules": Link("game_rules", {"variant": "$response.body#/variant"}),
    "odds": Link("game_odds", {"variant": "$response.body#/variant"}),
}


class Tables(PlayerApiView):
    """The lobby."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="tables",
        parameters=[LobbyQuery],
        responses={
            200: Linked(
                page_of(LobbyTableSchema),
                table=Link("table", FIRST),
                solo_seat_open=Link("solo_seat_open", FIRST),
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List the tables that you can play for one kind of money.

        Favourites come first, then open tables.
        """
        mode = Mode[query_of(request, LobbyQuery)["mode"].upper()]
        return Response(page(lobby(self.player, mode, self.language()), None))


class OneTable(PlayerApiView):
    """One table."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="table", responses={200: Linked(TableSchema, **TABLE_LINKS)})
    def get(self, request: Request, slug: str, mode: Mode) -> Response:
        """Read a table's limits, chips, bets and payouts, and the reason if you cannot play there."""
        table = get_object_or_404(Table.objects.select_related("version"), slug=slug, version__isnull=False)
        player, language = self.player, self.language()
        found = _card_of(table, mode)
        result = _moving(table, mode, found, is_house_stopped=house_stop.current() is not None)
        result |= _figures(table, player, language)
        named = _named(table, mode, language, is_favourite=table.pk in favourite_tables(player))
        return Response(named | result | {"obstacle": self.obstacle(table, mode)})

    def obstacle(self, table: Table, mode: Mode) -> Json | None:
        """Return the reason why the player cannot play at a table; None if there is none."""
        player = self.player
        try:
            demand_playable(table, player, mode)
            demand_eligible(player, mode, self.session())
        except (*UNPLAYABLE, NotEligible) as error:
            problem = problem_of(error, next(iter(VARIANTS.values())), mode)  # the same text for any variant
            return {
                "code": problem.kind.code,
                "detail": problem.detail,
                "ineligibility": problem.more.get("ineligibility"),
            }
        return None


def lobby(player: Player, mode: Mode, language: str) -> list[Json]:
    """Return the tables of `selectors.lobby`, with values instead of cards."""
    favourites = favourite_tables(player)
    return replica.read(replica.LOBBY, lambda: _lobby(player, mode, language, favourites))


def _lobby(player: Player, mode: Mode, language: str, favourites: frozenset[int]) -> list[Json]:
    is_house_stopped = house_stop.current() is not None
    cards = {card.slug: card for card in selectors.lobby_cards(mode, player.currency, player.jurisdiction_id)}
    found = [
        _named(table, mode, language, is_favourite=table.pk in favourites)
        | _range(table, player.currency)
        | _moving(table, mode, cards.get(table.slug), is_house_stopped=is_house_stopped)
        for table in selectors.playable(player)
        if table.version and is_played_for(table.version, mode)
        if table.shape != Shape.CHEMIN or table.slug in cards
    ]
    return sorted(
        found, key=lambda each: (not each["is_favourite"], each["status"] != "open", each["status"] == "stopped")
    )


def _card_of(table: Table, mode: Mode) -> LobbyCard | None:
    """Return the current card of a live table.

    None for a solo table, or if nobody has played there for that kind of money.
    """
    live = LiveTable.objects.filter(table=table, mode=mode).values_list("pk", flat=True).first()
    return next(iter(selectors.cards([live])), None) if live else None


def _named(table: Table, mode: Mode, language: str, *, is_favourite: bool) -> Json:
    game = GAMES[table.variant]
    return {
        "slug": table.slug,
        "mode": mode.name.lower(),
        "name": table.name,
        "variant": table.variant,
        "game": variant_label(game, "name", language),
        "shape": table.shape,
        "decks": game.decks,
        "is_favourite": is_favourite,
    }


def _range(table: Table, wanted: str) -> Json:
    """Return the limits shown next to the table's name."""
    assert table.version is not None  # noqa: S101  (only published tables are listed)
    stored = table.version.limits
    if table.shape == Shape.CHEMIN:
        chemin = CheminRules.of(stored)
        return {"currency": chemin.currency, "minimum": chemin.minimum, "maximum": chemin.maximum}
    limits = Limits.of(stored, wanted)
    return {"currency": wanted, "minimum": limits.main.minimum, "maximum": limits.main.maximum}


def _moving(table: Table, mode: Mode, card: LobbyCard | None, *, is_house_stopped: bool) -> Json:
    """Return the changing values of a table: its status and the number of players."""
    is_open, is_paused = as_shown(table, mode, is_house_stopped=is_house_stopped)
    if card:
        is_open, is_paused = card.is_open, card.is_paused
    is_stopped = card is not None and card.is_stopped
    chemin, shared = card if isinstance(card, CheminCardState) else None, card if isinstance(card, CardState) else None
    return {
        "status": "stopped" if is_stopped else "open" if is_open else "paused" if is_paused else "closed",
        "players": shared.players if shared else chemin.taken if chemin else None,
        "seats": chemin.rules.seat_count if chemin else None,
        "bank": chemin.bank if chemin else None,
    }


def _figures(table: Table, player: Player, language: str) -> Json:
    """Return the rules and limits of the current version."""
    version = table.version
    assert version is not None  # noqa: S101  (only published tables are listed)
    game = GAMES[table.variant]
    result: Json = {
        "version": version.number,
        "rules_version": version.rules_version,
        "rules_digest": version.rules_digest,
        "clock": version.clock,
        "bets": [],
        "controls": [],
        "limits": None,
        "chemin": None,
    }
    if not isinstance(game, Variant):
        rules = CheminRules.of(version.limits)
        result["chemin"] = {
            "currency": rules.currency,
            "seats": rules.seat_count,
            "house_players": rules.house_players,
            "minimum": rules.minimum,
            "maximum": rules.maximum,
        }
        return result
    result |= {
        "bets": [bet(game, each, language) for each in game.bets],
        "controls": [control.value for control in game.controls],
    }
    if player.currency in version.limits:
        result["limits"] = _limits(Limits.of(version.limits, player.currency))
    return result


def _limits(limits: Limits) -> Json:
    return {
        "currency": limits.currency,
        "step": limits.step,
        "chips": list(limits.chips),
        "minimum": {bet: allowed.minimum for bet, allowed in limits.bets.items()},
        "maximum": {bet: allowed.maximum for bet, allowed in limits.bets.items()},
        "liability": limits.liability,
    }


def bet(game: Variant, rule: BetRule, language: str) -> Json:
    """Return a bet and its payouts, from the rules that settle it."""
    rivals: Iterable[str] = (each for group in game.exclusions if rule.code in group for each in group)
    return {
        "bet": rule.code,
        "name": bet_name(game, rule.code, language),
        "prizes": [
            {
                "when": prize.when.name,
                "name": variant_label(game, f"when.{prize.when.name}", language),
                "pays": shapes.fraction(prize.pays.fraction),
            }
            for prize in rule.prizes
        ],
        "needs": list(rule.needs),
        "excludes": sorted(set(rivals) - {rule.code}),
    }
