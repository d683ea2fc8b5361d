"""Shared parts of API answers: amounts, cards, bets, rounds.

Each schema is next to the function that fills it.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q
from rest_framework import serializers

from games.history import HistoryLine, PlayingLine, WagerLine
from games.models import LiveTable, Phase, Shape, Void
from games.shared.pages.stream_tokens import RoundCursor
from games.tables.presentation import HandView, RoundView
from wallet.models import Currency, Mode

Json = dict[str, Any]

AMOUNT = "in whole minor units of the currency"
MODES = tuple(mode.name.lower() for mode in Mode)
OUTCOMES = ("player", "banker", "tie")
STATUSES = ("playing", "complete", "void", "examined")
# Fields that are null for a round in progress.
UNKNOWN = ("result", "paid", "commission", "balance_before", "balance_after", "rules_digest", "seed", "decks", "coup")


def amount(meaning: str, **options: Any) -> serializers.IntegerField:
    """Return the field for an amount."""
    return serializers.IntegerField(help_text=f"{meaning}, {AMOUNT}", **options)


def amounts(meaning: str) -> serializers.DictField:
    """Return the field for an amount for each bet."""
    return serializers.DictField(child=serializers.IntegerField(), help_text=f"bet → {meaning}, {AMOUNT}")


def currency() -> serializers.ChoiceField:
    """Return the field for a currency."""
    return serializers.ChoiceField(choices=Currency.values, help_text="ISO 4217; every one has a hundred minor units")


def kind_of_money() -> serializers.ChoiceField:
    """Return the field for a kind of money."""
    return serializers.ChoiceField(choices=MODES, help_text="real money, or free money to play for")


def shape_of_table() -> serializers.ChoiceField:
    """Return the field for the shape of a table."""
    return serializers.ChoiceField(
        choices=Shape.values,
        help_text="`solo`: dealt for one player on demand; `shared`: in timed rounds; `chemin`: against each other",
    )


class TableRefSchema(serializers.Serializer[Any]):
    """A reference to a table."""

    slug = serializers.SlugField()
    name = serializers.CharField()


class HandSchema(serializers.Serializer[Any]):
    """The cards of one side."""

    cards = serializers.ListField(child=serializers.CharField(), help_text='two or three: "9H", "TD"')
    total = serializers.IntegerField(min_value=0, max_value=9)
    two_card_total = serializers.IntegerField(min_value=0, max_value=9, help_text="before the third card")


class ResultSchema(serializers.Serializer[Any]):
    """The result of a finished coup."""

    outcome = serializers.ChoiceField(choices=OUTCOMES)
    natural = serializers.BooleanField(help_text="whether the first four cards decided")
    announcement = serializers.CharField(help_text="as the croupier says it, in the language asked for")
    cards = serializers.ListField(child=serializers.CharField(), help_text='in dealing order: rank and suit, "9H"')
    player = HandSchema(help_text="at Chemin de Fer the punters' hand")
    banker = HandSchema()


class OwnBetSchema(serializers.Serializer[Any]):
    """One bet of a round."""

    bet = serializers.CharField(help_text="its code")
    name = serializers.CharField(help_text="in the language asked for")
    stake = amount("what was staked")
    payout = amount("what came back, the stake included; null while the round is played", allow_null=True)
    result = serializers.ChoiceField(
        choices=("win", "push", "lose", "void"), allow_null=True, help_text="null while the round is played"
    )


class ProvenCardSchema(serializers.Serializer[Any]):
    """A card of a shoe with what leads from it to the root."""

    place = serializers.IntegerField(help_text="in the order of dealing, from 0")
    card = serializers.CharField(help_text='"9H", "TD"')
    salt = serializers.CharField(help_text="16 bytes in hex")
    path = serializers.ListField(child=serializers.CharField(), help_text="hashes in hex, the nearest first")


class InShoeSchema(serializers.Serializer[Any]):
    """The position of a round in its shoe."""

    id = serializers.UUIDField()
    number = serializers.IntegerField(help_text="of the shoe at its table")
    round_number = serializers.IntegerField(help_text="in the shoe")
    card = serializers.IntegerField(help_text="with which of its cards the round began, from 1; 0 before the deal")
    purpose = serializers.ChoiceField(choices=("shoe", "chemin"), help_text="what the commitment names first")
    rules_digest = serializers.CharField(help_text="SHA-256 of the rules, which the commitment names")
    cards_root = serializers.CharField(help_text="hex: over all cards of the shoe, known before the first bet")
    entropy = serializers.CharField(allow_blank=True, help_text="what went into the shuffle in addition to the seed")
    cards = ProvenCardSchema(many=True, help_text="of this round once it is over")


class CheminStakeSchema(serializers.Serializer[Any]):
    """One player's stake in a coup of Chemin de Fer."""

    seat = serializers.CharField(help_text="whose: the name of the seat, not of the player")
    stake = amount("what was staked")
    returned = amount("what came back of it")


class DecisionSchema(serializers.Serializer[Any]):
    """A decision in a coup."""

    message = serializers.CharField()
    by_house = serializers.BooleanField(help_text="by the croupier, for a player who did not")


class OwnCoupSchema(serializers.Serializer[Any]):
    """A coup of Chemin de Fer as shown to a player who took part in it."""

    bank = amount("the bank at its opening")
    at_risk = amount("what was played for")
    tax = amount("the house's share of what the bank won")
    call = serializers.CharField(allow_blank=True, help_text="in French; empty without one")
    banker = serializers.CharField()
    punter = serializers.CharField(allow_blank=True, help_text="who held the punters' cards")
    stakes = CheminStakeSchema(many=True)
    decisions = DecisionSchema(many=True)
    departures = serializers.ListField(child=serializers.CharField(), help_text="from the rule, each a sentence")


class OwnRoundSchema(serializers.Serializer[Any]):
    """A round of the player."""

    id = serializers.UUIDField()
    code = serializers.CharField(help_text="what people say to each other")
    at = serializers.DateTimeField(help_text="when it was over; of one that is played, when it opened")
    table = TableRefSchema()
    mode = kind_of_money()
    currency = currency()
    status = serializers.ChoiceField(
        choices=STATUSES,
        help_text="void: every stake was returned; examined: what is stored of it makes no round",
    )
    result = ResultSchema(
        allow_null=True, help_text="of a void round, what its cards on record come to; it decides nothing"
    )
    bets = OwnBetSchema(many=True)
    staked = amount("all stakes")
    paid = amount("all that came back; null while the round is played", allow_null=True)
    commission = amount("the house's share of what was won; null while the round is played", allow_null=True)
    balance_before = amount("the balance before the stakes; null while the round is played", allow_null=True)
    balance_after = amount("the balance after the payouts; null while the round is played", allow_null=True)
    table_version = serializers.IntegerField(help_text="under which version of the table it was played")
    rules_version = serializers.CharField()
    rules_digest = serializers.CharField(
        allow_null=True, help_text="SHA-256 of the rules it was played under; null while the round is played"
    )
    commitment = serializers.CharField(help_text="hex: known before the first bet; see the reading of one round")
    table_id = serializers.IntegerField(help_text="the number of the table, which the commitment names")
    seed = serializers.CharField(
        allow_null=True, help_text="hex; null as long as the coming cards could be computed from it"
    )
    player_value = serializers.CharField(allow_blank=True, help_text="what the player had mixed into the shuffle")
    decks = serializers.IntegerField(allow_null=True, help_text="shuffled together; null while the round is played")
    shoe = InShoeSchema(allow_null=True, help_text="null where the cards were shuffled for this round, and in lists")
    coup = OwnCoupSchema(allow_null=True, help_text="of a round in which players played each other")


def fraction(share: Fraction) -> str:
    """Return an exact fraction as text: "19/20"."""
    return f"{share.numerator}/{share.denominator}"


def result(view: RoundView) -> Json:
    """Return the result of a finished coup."""
    cards = sorted((*view.player.cards, *view.banker.cards), key=lambda card: card.order)
    return {
        "outcome": view.outcome,
        "natural": view.natural,
        "announcement": view.announcement,
        "cards": [card.code for card in cards],
        "player": hand(view.player),
        "banker": hand(view.banker),
    }


def hand(view: HandView) -> Json:
    """Return the cards of one side."""
    two, _, _ = view.score.partition(":")
    return {"cards": [card.code for card in view.cards], "total": view.total, "two_card_total": int(two)}


def finished(line: HistoryLine) -> Json:
    """Return a finished round."""
    shoe = line.shoe
    return {
        "id": line.id,
        "code": line.code,
        "at": line.at,
        "table": {"slug": line.table_slug, "name": line.table_name},
        "table_id": line.table_id,
        "mode": line.mode.name.lower(),
        "currency": line.currency,
        "status": line.status,
        "result": result(line.view) if line.view else None,
        "bets": [_bet(wager, is_over=True) for wager in line.wagers],
        "staked": line.staked,
        "paid": line.paid,
        "commission": line.commission,
        "balance_before": line.balance_before,
        "balance_after": line.balance_after,
        "table_version": line.table_version,
        "rules_version": line.rules_version,
        "rules_digest": line.rules_digest,
        "commitment": line.commitment,
        "seed": line.seed or None,
        "player_value": line.player_value,
        "decks": line.decks,
        "shoe": asdict(shoe) if shoe else None,
        "coup": asdict(line.coup) if line.coup else None,
    }


def playing(line: PlayingLine) -> Json:
    """Return a round in progress, without its cards."""
    unknown = (
        "result",
        "paid",
        "commission",
        "balance_before",
        "balance_after",
        "rules_digest",
        "seed",
        "decks",
        "coup",
    )
    return dict.fromkeys(unknown) | {
        "id": line.id,
        "code": line.code,
        "at": line.at,
        "table": {"slug": line.table_slug, "name": line.table_name},
        "table_id": line.table_id,
        "mode": line.mode.name.lower(),
        "currency": line.currency,
        "status": "playing",
        "bets": [_bet(wager, is_over=False) for wager in line.wagers],
        "staked": line.staked,
        "table_version": line.table_version,
        "rules_version": line.rules_version,
        "commitment": line.commitment,
        "player_value": "",
        "shoe": asdict(line.shoe),
    }


def _bet(wager: WagerLine, *, is_over: bool) -> Json:
    return {
        "bet": wager.bet,
        "name": wager.name,
        "stake": wager.stake,
        "payout": wager.payout if is_over else None,
        "result": wager.result if is_over else None,
    }


BEGINNING: Final = RoundCursor(0, 0)  # before the first round of a table
NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,4})", re.ASCII)  # of a shoe, and of a round in it

# Returns the latest finished rounds from a given one on, newest first. Parameters: the live table;
# a shoe; a shoe and a round in it; the limit. Rounds without a bet are left out. The cards of a
# round that was voided before it was paid are empty.
READ_OVER: Final = f"""
SELECT shoe.number AS shoe, round.number AS number, round.id AS id, round.code AS code,
    coalesce(game_round.at, round.ended_at) AS at,
    CASE round.phase WHEN '{Phase.SETTLED}' THEN game_round.cards ELSE '' END AS cards,
    void.round_id IS NOT NULL AS is_void, coup.punter_draws AS punter_draws, coup.banker_draws AS banker_draws
FROM games_shoe AS shoe
JOIN games_liveround AS round ON round.shoe_id = shoe.id
LEFT JOIN games_round AS game_round ON game_round.id = round.id
LEFT JOIN games_void AS void ON void.round_id = round.id
LEFT JOIN games_chemincoup AS coup ON coup.round_id = round.id
WHERE shoe.live_table_id = %s AND shoe.number >= %s AND (shoe.number, round.number) >= (%s, %s)
    AND (round.phase = '{Phase.SETTLED}' OR round.phase = '{Phase.VOID}' AND void.round_id IS NOT NULL)
ORDER BY shoe.number DESC, round.number DESC LIMIT %s
"""  # noqa: S608  (only our own names)


class OverSchema(serializers.Serializer[Any]):
    """Fields of every finished round."""

    id = serializers.UUIDField()
    code = serializers.CharField(help_text="what people say to each other")
    shoe = serializers.IntegerField(help_text="the number of its shoe at the table")
    number = serializers.IntegerField(help_text="in the shoe")
    at = serializers.DateTimeField(help_text="when it was over, as in your history")
    is_void = serializers.BooleanField(help_text="whether every stake was returned")


def over(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the common fields from a row of `READ_OVER`."""
    return {name: row[name] for name in ("id", "code", "shoe", "number", "at", "is_void")}


def cursor_of(row: Mapping[str, Any]) -> RoundCursor:
    """Return the position of a round in the order of its table."""
    return RoundCursor(row["shoe"], row["number"])


def number_of(cursor: RoundCursor) -> str:
    """Return the event id of a position."""
    return f"{cursor.shoe}-{cursor.round}"


def read_number(live_table: LiveTable, number: str) -> RoundCursor:
    """Return the position that an event id stands for.

    If that round is not finished, the last finished round before it is returned. Raises ValueError
    if the table has no such round.
    """
    found = NUMBER.fullmatch(number)
    if found is None:
        raise ValueError(number)
    cursor = RoundCursor(*map(int, found.groups()))
    if cursor == BEGINNING:
        return cursor
    if not live_table.rounds.filter(shoe__number=cursor.shoe, number=cursor.round).exists():
        raise ValueError(number)
    up_to = Q(shoe__number__lt=cursor.shoe) | Q(shoe__number=cursor.shoe, number__lte=cursor.round)
    is_over = Q(phase=Phase.SETTLED) | Q(Exists(Void.objects.filter(round=OuterRef("pk"))), phase=Phase.VOID)
    ended = live_table.rounds.filter(up_to, is_over).order_by("-shoe__number", "-number")
    last = ended.values_list("shoe__number", "number").first()
    return RoundCursor(*last) if last else BEGINNING
