"""Serializers of rounds in the compliance API.

Amounts are minor units of the currency in the same object.
"""

from typing import Any

from rest_framework import serializers

from games.models import OPEN_PHASES

WHOSE = "player:12; null for a house player"


class BetSchema(serializers.Serializer[Any]):
    """One bet and its result."""

    bet = serializers.CharField()
    stake = serializers.IntegerField()
    payout = serializers.IntegerField(help_text="the stake included")
    commission = serializers.IntegerField()
    result = serializers.CharField(help_text="win, push, lose; void where the round was annulled before it was settled")


class MovedBackSchema(serializers.Serializer[Any]):
    """What one player's balance got or lost when the round was voided."""

    returned = serializers.IntegerField(
        help_text="stakes given back less payouts taken back; negative where the round had won"
    )
    shortfall = serializers.IntegerField(help_text="what the house added, because the winnings had been spent")


class PartSchema(serializers.Serializer[Any]):
    """One player’s part in a round."""

    player = serializers.CharField(help_text="player:12")
    session = serializers.UUIDField(allow_null=True)
    currency = serializers.CharField()
    mode = serializers.CharField(help_text="R for real money, F for free")
    staked = serializers.IntegerField()
    paid = serializers.IntegerField(help_text="stakes that came back included")
    commission = serializers.IntegerField()
    balance_before = serializers.IntegerField()
    balance_after = serializers.IntegerField()


class FoundRoundSchema(PartSchema):
    """One player’s part in a round, as a search result."""

    round = serializers.UUIDField()
    code = serializers.CharField(help_text="what people say to each other: 7Q4K-0193-BD2M")
    table = serializers.IntegerField()
    game = serializers.CharField()
    outcome = serializers.CharField()
    at = serializers.DateTimeField()
    void = serializers.CharField(allow_null=True, help_text="why it was annulled; null where it was not")


class GoingRoundSchema(serializers.Serializer[Any]):
    """A round in progress at a shared table. Its cards and bets are not shown."""

    round = serializers.UUIDField()
    code = serializers.CharField()
    table = serializers.IntegerField()
    game = serializers.CharField()
    mode = serializers.CharField(help_text="R for real money, F for free")
    phase = serializers.ChoiceField(OPEN_PHASES)
    opened_at = serializers.DateTimeField()
    is_interrupted = serializers.BooleanField(help_text="its table stands still")


class WholePartSchema(PartSchema):
    """One player’s part in a round, bet by bet."""

    bets = BetSchema(many=True)
    moved_back = MovedBackSchema(allow_null=True)


class ShoeSchema(serializers.Serializer[Any]):
    """The shoe of a shared round. Card positions count from 0 in the order of the shuffle."""

    id = serializers.UUIDField()
    number = serializers.IntegerField(help_text="counts the shoes of the table")
    decks = serializers.IntegerField()
    commitment = serializers.CharField(help_text="hex SHA-256 of the seed")
    seed = serializers.CharField(allow_null=True, help_text="hex, public once the shoe has ended; null before")
    burn_card = serializers.CharField()
    burned = serializers.IntegerField(help_text="cards, the burn card included")
    cut = serializers.IntegerField(help_text="the cut card lies in front of this card")
    opened_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class CoupStakeSchema(serializers.Serializer[Any]):
    """One player's stake against the bank."""

    seat = serializers.IntegerField()
    player = serializers.CharField(allow_null=True, help_text=WHOSE)
    stake = serializers.IntegerField()
    returned = serializers.IntegerField()


class CoupMoveSchema(serializers.Serializer[Any]):
    """One move in a coup."""

    number = serializers.IntegerField(help_text="counts the moves of the table")
    seat = serializers.IntegerField(allow_null=True, help_text="null where the house acts")
    kind = serializers.CharField()
    amount = serializers.IntegerField(allow_null=True)
    call = serializers.CharField()
    decider = serializers.CharField(help_text="guest, croupier, house_player, house")
    asked_at = serializers.DateTimeField(allow_null=True)
    at = serializers.DateTimeField()


class CoupSchema(serializers.Serializer[Any]):
    """A coup of Chemin de Fer: bank, stakes, moves and result."""

    currency = serializers.CharField()
    bank = serializers.IntegerField(help_text="at its opening")
    at_risk = serializers.IntegerField(help_text="what of it was covered")
    call = serializers.CharField(allow_blank=True)
    banker = serializers.IntegerField(help_text="seat")
    banker_player = serializers.CharField(allow_null=True, help_text=WHOSE)
    punter = serializers.IntegerField(allow_null=True, help_text="seat that held the punters’ cards")
    outcome = serializers.CharField(allow_blank=True)
    punter_total = serializers.IntegerField(allow_null=True)
    banker_total = serializers.IntegerField(allow_null=True)
    punter_draws = serializers.BooleanField(allow_null=True, help_text="as declared; null where nothing was to decide")
    banker_draws = serializers.BooleanField(allow_null=True, help_text="as declared; null where nothing was to decide")
    tax = serializers.IntegerField()
    stakes = CoupStakeSchema(many=True)
    moves = CoupMoveSchema(many=True)


class VoidSchema(serializers.Serializer[Any]):
    """The voiding of a round."""

    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()


class IncidentSchema(serializers.Serializer[Any]):
    """An incident of a round, and the ruling on it."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    cause = serializers.CharField(allow_blank=True)
    findings = serializers.JSONField()
    done = serializers.JSONField()
    at = serializers.DateTimeField()
    ruling = serializers.CharField(allow_null=True, help_text="stands or void; null while nothing is decided")


class DifferenceSchema(serializers.Serializer[Any]):
    """A difference between what is stored of a round and what its seed and its bets yield."""

    what = serializers.CharField()
    stored = serializers.CharField()
    again = serializers.CharField()


class RoundEventSchema(serializers.Serializer[Any]):
    """An event of a round."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    leaf = serializers.IntegerField(allow_null=True)


class WholeRoundSchema(serializers.Serializer[Any]):
    """A finished round with everything needed to deal it again, and the result of verifying it now."""

    id = serializers.UUIDField()
    code = serializers.CharField()
    at = serializers.DateTimeField()
    table = serializers.IntegerField()
    table_name = serializers.CharField()
    table_version = serializers.IntegerField(help_text="counts the versions of the table")
    game = serializers.CharField()
    mode = serializers.CharField(help_text="R for real money, F for free")
    rules_version = serializers.CharField()
    rules_digest = serializers.CharField(help_text="hex SHA-256 of what in the rules decides money")
    commitment = serializers.CharField(help_text="hex SHA-256 of the seed")
    seed = serializers.CharField(
        allow_null=True, help_text="hex, of a round with a shoe of its own; null before its cards, and at shared tables"
    )
    player_value = serializers.CharField(allow_blank=True, help_text="mixed into the shuffle by the player’s wish")
    shoe = ShoeSchema(allow_null=True)
    first_card = serializers.IntegerField(
        allow_null=True, help_text="how many cards had left the shoe before; null where the round had one of its own"
    )
    cards = serializers.ListField(child=serializers.CharField(), help_text="in dealing order")
    outcome = serializers.CharField(allow_blank=True)
    parts = WholePartSchema(many=True)
    coup = CoupSchema(allow_null=True)
    void = VoidSchema(allow_null=True)
    incidents = IncidentSchema(many=True, help_text="for whoever may read incidents; empty for others")
    events = RoundEventSchema(many=True)
    obstacle = serializers.CharField(allow_blank=True, help_text="why it could not be dealt again; empty where it was")
    differences = DifferenceSchema(many=True)
