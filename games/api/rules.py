"""API of the games: rules, payouts and exact odds, taken from the objects that settle bets."""

from typing import Any, ClassVar

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games.api import shapes
from games.api.shapes import Json
from games.api.tables import TableBetSchema, bet
from games.engine.bets import Variant
from games.engine.chemin.odds import chemin_odds_json
from games.engine.coup import banker_draws, player_draws
from games.engine.odds import BetOdds, percent
from games.help import game_lines, rules_page
from games.help.placeholders import odds_of
from games.help.tables import POINTS, TWO_CARD_TOTALS
from games.labels import bet_name
from games.variants import GAMES
from games.variants.common import Game
from players.api.reading import page
from players.api.schema import Link, Linked, page_of
from players.api.views import PlayerApiView
from players.models import Scope

DECIMALS = 12  # decimals of a value next to its exact fraction
VARIANT = OpenApiParameter("variant", str, OpenApiParameter.PATH, enum=sorted(GAMES))
GAME_LINKS = {
    "rules": Link("game_rules", {"variant": "$response.body#/items/0/slug"}),
    "odds": Link("game_odds", {"variant": "$response.body#/items/0/slug"}),
}


class GameSchema(serializers.Serializer[Any]):
    """A game."""

    slug = serializers.SlugField()
    name = serializers.CharField(help_text="in the language asked for")
    tagline = serializers.CharField(help_text="in the language asked for")
    version = serializers.CharField(help_text="of its rules")
    changed = serializers.DateField(help_text="when the rules last changed")
    digest = serializers.CharField(help_text="SHA-256 of everything in the rules that decides about money, hex")
    decks = serializers.IntegerField(help_text="shuffled together")
    against_each_other = serializers.BooleanField(help_text="if players play each other, without bets on two hands")


class BankerRuleSchema(serializers.Serializer[Any]):
    """The Banker's rule for a two-card total."""

    total = serializers.IntegerField()
    player_stood = serializers.BooleanField(help_text="whether the Banker draws where the Player took no third card")
    player_drew = serializers.ListField(
        child=serializers.BooleanField(), help_text="whether the Banker draws, by the points 0–9 of that third card"
    )


class ThirdCardSchema(serializers.Serializer[Any]):
    """The third-card rules.

    A two-card total of 8 or 9 on either side ends the coup before they apply.
    """

    player_draws = serializers.ListField(child=serializers.IntegerField(), help_text="on these two-card totals")
    banker = BankerRuleSchema(many=True)


class RulesSchema(GameSchema):
    """The rules of a game."""

    help = serializers.CharField(help_text="the help as HTML, as the page of the house shows it")
    bets = TableBetSchema(many=True, help_text="the paytable; none where players play each other")
    third_card = ThirdCardSchema(allow_null=True, help_text="null where players play each other: see the help")


class ShareSchema(serializers.Serializer[Any]):
    """A number, exact and rounded."""

    fraction = serializers.CharField(help_text='exact: "numerator/denominator"')
    decimal = serializers.CharField(help_text=f"rounded half up to {DECIMALS} decimals")


class BetOddsSchema(serializers.Serializer[Any]):
    """The odds of a bet over all coups of a fresh shoe, per unit staked and without rounding."""

    bet = serializers.CharField(help_text="its code")
    name = serializers.CharField(help_text="in the language asked for")
    rtp = ShareSchema(help_text="what comes back")
    edge = ShareSchema(help_text="what the house keeps")
    win = ShareSchema(help_text="how likely it wins")
    push = ShareSchema(help_text="how likely the stake comes back")
    lose = ShareSchema(help_text="how likely it loses")
    variance = ShareSchema(help_text="of the gain")


class OddsSchema(serializers.Serializer[Any]):
    """The odds of a game."""

    variant = serializers.SlugField()
    digest = serializers.CharField(help_text="SHA-256 of the rules that they are of, hex")
    decks = serializers.IntegerField()
    bets = BetOddsSchema(many=True, help_text="none where players play each other")
    policies = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()),
        help_text="of a game between players: for each use of the free choices, how likely it ends how and what either"
        " side gains per unit at stake, as exact fractions",
    )


class Games(PlayerApiView):
    """All games."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="games", responses={200: Linked(page_of(GameSchema), **GAME_LINKS)})
    def get(self, request: Request) -> Response:
        """List all games."""
        return Response(page([_game(game, self.language()) for game in GAMES.values()], None))


class Rules(PlayerApiView):
    """The rules of a game."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="game_rules",
        parameters=[VARIANT],
        responses={200: Linked(RulesSchema, odds=Link("game_odds", {"variant": "$response.body#/slug"}))},
    )
    def get(self, request: Request, variant: str) -> Response:
        """Read the help of a game with its paytable and third-card rules."""
        game, language = game_called(variant), self.language()
        result = _game(game, language) | {"help": rules_page(game, language).body, "bets": [], "third_card": None}
        if isinstance(game, Variant):
            result |= {"bets": [bet(game, each, language) for each in game.bets], "third_card": _third_card()}
        return Response(result)


class Odds(PlayerApiView):
    """The odds of a game."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="game_odds", parameters=[VARIANT], responses=OddsSchema)
    def get(self, request: Request, variant: str) -> Response:
        """Read the exact odds of every bet, computed over all possible coups."""
        game = game_called(variant)
        result: Json = {"variant": game.slug, "digest": game.digest, "decks": game.decks, "bets": [], "policies": []}
        if not isinstance(game, Variant):
            return Response(result | {"policies": chemin_odds_json(game.decks)["policies"]})
        odds = odds_of(game.slug)
        bets = [
            {"bet": each.code, "name": bet_name(game, each.code, self.language())} | _odds(odds[each.code])
            for each in game.bets
        ]
        return Response(result | {"bets": bets})


def game_called(slug: str) -> Game:
    """Return the game. Raises Http404."""
    if slug not in GAMES:
        raise Http404
    return GAMES[slug]


def _game(game: Game, language: str) -> Json:
    (line,) = (each for each in game_lines(language) if each.slug == game.slug)
    return {
        "slug": game.slug,
        "name": line.name,
        "tagline": line.tagline,
        "version": game.version,
        "changed": game.changed,
        "digest": game.digest,
        "decks": game.decks,
        "against_each_other": not isinstance(game, Variant),
    }


def _third_card() -> Json:
    return {
        "player_draws": [total for total in TWO_CARD_TOTALS if player_draws(total)],
        "banker": [
            {
                "total": total,
                "player_stood": banker_draws(total, None),
                "player_drew": [banker_draws(total, third) for third in POINTS],
            }
            for total in TWO_CARD_TOTALS
        ],
    }


def _odds(odds: BetOdds) -> Json:
    shares = {"rtp": odds.rtp, "edge": odds.edge, "win": odds.win, "push": odds.push, "lose": odds.lose}
    return {
        name: {"fraction": shapes.fraction(share), "decimal": percent(share / 100, DECIMALS)}
        for name, share in (shares | {"variance": odds.variance}).items()
    }
