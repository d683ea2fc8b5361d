"""API schema of a Chemin de Fer table: the content of its page, the same in every language.

All values come from the page's views, which contain only what the reader may see. A face-down card
is null.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import override
from rest_framework import serializers

from games.api import shapes, shared_schema
from games.api.shapes import Json, amount, currency, kind_of_money
from games.api.shared_schema import CutSchema, SpentShoeSchema, TableShoeSchema
from games.chemin.pages.board import own_view, public_view
from games.chemin.pages.options import NAMES
from games.chemin.pages.presentation import OptionView, OwnView, PublicView, ShownSeat, TableHand
from games.chemin.state.queries import Played, PublicTable
from games.chemin.state.snapshots import own_state, with_funds
from games.engine.cards import Card
from games.engine.chemin import Call, Outcome, Phase, Presence, SeatView, view
from games.engine.chemin.actions import DrawCard, Stand
from games.engine.chemin.record import redeal_coup
from games.engine.chemin.rules import Advice

PHASES = (*(phase.value for phase in Phase), "stopped", "paused", "closed_table")
OUTCOMES = tuple(outcome.value for outcome in Outcome)
ADVICE = tuple(advice.value for advice in Advice)
CALLS = tuple(call.value for call in Call)
ACTIONS = tuple(NAMES.values())
PRESENCES = tuple(presence.value for presence in Presence)


class LyingHandSchema(serializers.Serializer[Any]):
    """The cards of one side as the reader may see them."""

    cards = serializers.ListField(
        child=serializers.CharField(allow_null=True), help_text='"9H"; null is a card that is face down'
    )
    total = serializers.IntegerField(min_value=0, max_value=9, allow_null=True, help_text="null unless all lie open")
    is_natural = serializers.BooleanField()


class CheminSeatSchema(serializers.Serializer[Any]):
    """A seat at the table."""

    number = serializers.IntegerField()
    state = serializers.ChoiceField(choices=("free", *PRESENCES))
    name = serializers.CharField(allow_null=True, help_text="the player's name in the chat")
    is_house_player = serializers.BooleanField()
    is_asked = serializers.BooleanField()
    holds_cards = serializers.BooleanField(help_text="those of the punters")
    bank = amount("what is in the bank that is held here", allow_null=True)
    call = serializers.ChoiceField(choices=CALLS, allow_null=True)
    stake = amount("what is staked from here")
    bid = amount("what is bid for the bank from here")


class BankSchema(serializers.Serializer[Any]):
    """The bank in play."""

    seat = serializers.IntegerField(help_text="who holds it")
    at_risk = amount("what of it is covered")
    open = amount("what may still be staked against it")
    amount = amount("what is in it")


class CoupRefSchema(serializers.Serializer[Any]):
    """The coup in progress, or the last one."""

    id = serializers.UUIDField()
    code = serializers.CharField(help_text="what people say to each other")


class CheminRulesSchema(serializers.Serializer[Any]):
    """The fixed rules of the table."""

    seats = serializers.IntegerField()
    minimum = amount("the smallest bank")
    maximum = amount("the largest bank")
    house_players = serializers.IntegerField(help_text="who play for free money while a player is seated")


class CheminStateSchema(serializers.Serializer[Any]):
    """A Chemin de Fer table as everyone sees it at one moment."""

    shape = serializers.ChoiceField(choices=("chemin",))
    table = serializers.SlugField()
    mode = kind_of_money()
    currency = currency()
    at = serializers.DateTimeField(help_text="the moment, by the clock of the database, as every time here")
    phase = serializers.ChoiceField(
        choices=PHASES, help_text="what is asked or waited for; stopped after a malfunction; paused; closed_table"
    )
    move = serializers.IntegerField(help_text="counts what was done at the table")
    question = serializers.IntegerField(help_text="counts what was asked: a decision says which one it answers")
    asked_seat = serializers.IntegerField(allow_null=True, help_text="who is asked; null where nobody is")
    deadline = serializers.DateTimeField(allow_null=True, help_text="until when, or the croupier decides by the rule")
    seconds_left = serializers.FloatField(allow_null=True, help_text="until then, at the moment of `at`")
    round = CoupRefSchema(allow_null=True)
    seats = CheminSeatSchema(many=True)
    bank = BankSchema(allow_null=True)
    for_sale = amount("the amount at which a bank is offered on", allow_null=True)
    punter = LyingHandSchema(help_text="the punters' cards")
    banker = LyingHandSchema()
    outcome = serializers.ChoiceField(
        choices=OUTCOMES, allow_null=True, help_text="of the coup on the table, once it is over and not voided"
    )
    tax = amount("the house's share of what the bank won in it")
    shoe = TableShoeSchema(allow_null=True)
    spent_shoe = SpentShoeSchema(allow_null=True, help_text="the latest one whose seed is public")
    cut = CutSchema(allow_null=True, help_text="null unless players cut the shoe that the coup waits for")
    results = serializers.ListField(
        child=serializers.ChoiceField(choices=(*OUTCOMES, "voided")), help_text="of this shoe's last coups, in order"
    )
    rules = CheminRulesSchema()


class CheminOptionSchema(serializers.Serializer[Any]):
    """A decision that the player can make now."""

    action = serializers.ChoiceField(choices=ACTIONS)
    call = serializers.ChoiceField(choices=CALLS, allow_null=True, help_text="sent with make_call")
    lowest = amount("the smallest amount to send with it; null if there is none to choose", allow_null=True)
    highest = amount("the largest one", allow_null=True)
    amount = amount("the amount that has to be sent with it if there is none to choose", allow_null=True)


class LastCoupSchema(serializers.Serializer[Any]):
    """The player's result in the latest coup in which they took part."""

    id = serializers.UUIDField()
    code = serializers.CharField()
    is_void = serializers.BooleanField()
    staked = amount("what the player had staked, or had in the bank at risk")
    paid = amount("what came back of it")
    net = amount("what came back less what was staked")


class CheminOwnSchema(serializers.Serializer[Any]):
    """The player's own data at a Chemin de Fer table."""

    currency = currency()
    seat = serializers.IntegerField(allow_null=True, help_text="null for a watcher without a seat")
    presence = serializers.ChoiceField(choices=PRESENCES, allow_null=True)
    move = serializers.IntegerField(help_text="of the state that this belongs to")
    question = serializers.IntegerField(help_text="which the options answer")
    options = CheminOptionSchema(many=True, help_text="what may be decided now; none where nothing is asked")
    hand = LyingHandSchema(allow_null=True, help_text="the punters' cards, where the player alone sees them")
    rule = serializers.ChoiceField(choices=ADVICE, allow_null=True, help_text="whether to draw: what may be chosen")
    advice = serializers.ChoiceField(choices=ADVICE, allow_null=True, help_text="what the croupier answered; it binds")
    may_sit = serializers.BooleanField()
    balance = amount("what may still be put down; null without an account in the table's currency", allow_null=True)
    on_table = amount("bank, stake and bid of the player's on the table")
    last_round = LastCoupSchema(allow_null=True)
    session_net = amount("what the session came to so far; null where none runs", allow_null=True)


class CheminOverSchema(shapes.OverSchema):
    """A finished coup."""

    cards = serializers.ListField(
        child=serializers.CharField(), help_text="in dealing order; none where it was voided before it was paid"
    )
    punter = LyingHandSchema()
    banker = LyingHandSchema()
    outcome = serializers.ChoiceField(choices=OUTCOMES, allow_null=True, help_text="null of a voided coup")


def public(seen: PublicTable) -> Json:
    """Return the table as everyone sees it at the moment of *seen*."""
    with override("en"):
        shown = public_view(seen, "en")
    table = view(seen.table_state, None)
    deadline = seen.deadline if shown.countdown else None
    return {
        "shape": "chemin",
        "table": seen.slug,
        "mode": seen.mode.name.lower(),
        "currency": seen.rules.currency,
        "at": seen.now,
        "phase": shown.phase,
        "move": seen.move,
        "question": seen.question,
        "asked_seat": shown.turn,
        "deadline": deadline,
        "seconds_left": max(0.0, (deadline - seen.now).total_seconds()) if deadline else None,
        "round": {"id": shown.round_id, "code": shown.code} if shown.round_id else None,
        "seats": [_seat(seat, table) for seat in shown.seats],
        "bank": _bank(shown, table),
        "for_sale": shown.for_sale,
        "punter": _hand(shown.punter),
        "banker": _hand(shown.banker),
        "outcome": shown.outcome or None,
        "tax": shown.tax,
        **shared_schema.shoes(shown.seal, seen.now),
        "results": [past.outcome for past in shown.past],
        "rules": {
            "seats": seen.rules.seat_count,
            "minimum": seen.rules.minimum,
            "maximum": seen.rules.maximum,
            "house_players": seen.rules.house_players,
        },
    }


def own(seen: PublicTable, row: Mapping[str, Any]) -> Json:
    """Return the own data of the player in a row of `READ_OWN`."""
    mine = own_state(seen, row)
    with override("en"):
        shown = own_view(with_funds(seen, mine), mine, "en", None)
    return {
        "currency": mine.currency,
        "seat": shown.seat,
        "presence": shown.presence or None,
        "move": seen.move,
        "question": shown.question,
        "options": [_option(option) for option in shown.options],
        "hand": _hand(shown.hand) if shown.hand else None,
        "rule": _rule(shown),
        "advice": shown.advice or None,
        "may_sit": shown.may_sit,
        "balance": shown.balance,
        "on_table": shown.on_table,
        "last_round": _last_round(mine.last),
        "session_net": shown.net,
    }


def over(row: Mapping[str, Any]) -> Json:
    """Return a finished coup from a row of `READ_OVER`."""
    codes = row["cards"].split()
    result = shapes.over(row) | {"cards": codes, "punter": NO_HAND, "banker": NO_HAND, "outcome": None}
    if not codes:
        return result
    dealt = redeal_coup(map(Card.parse, codes), punter_draws=row["punter_draws"], banker_draws=row["banker_draws"])
    for side, hand in (("punter", dealt.punter), ("banker", dealt.banker)):
        third = [] if hand.third is None else [hand.third]
        cards = [str(card) for card in (*hand.pair, *third)]
        result[side] = {"cards": cards, "total": hand.total, "is_natural": hand.natural}
    if not row["is_void"]:
        result["outcome"] = dealt.outcome.value
    return result


NO_HAND: Mapping[str, Any] = {"cards": [], "total": None, "is_natural": False}


def _seat(seat: ShownSeat, table: SeatView) -> Json:
    return {
        "number": seat.number,
        "state": seat.state,
        "name": seat.seated_player or None,
        "is_house_player": seat.is_house_player,
        "is_asked": seat.is_turn,
        "holds_cards": seat.holds_cards,
        "bank": seat.bank,
        "call": table.coup.call.value if seat.call and table.coup and table.coup.call else None,
        "stake": seat.stake,
        "bid": seat.bid,
    }


def _bank(shown: PublicView, table: SeatView) -> Json | None:
    if shown.bank is None or table.bank is None:
        return None
    bank = shown.bank
    return {"seat": table.bank.seat, "amount": bank.amount, "at_risk": bank.at_risk, "open": bank.open}


def _hand(hand: TableHand) -> Json:
    return {
        "cards": [card.code if card else None for card in hand.cards],
        "total": hand.total,
        "is_natural": hand.is_natural,
    }


def _option(option: OptionView) -> Json:
    action, _, call = option.value.partition(":")
    return {
        "action": action,
        "call": call or None,
        "lowest": option.lowest,
        "highest": option.highest,
        "amount": option.amount,
    }


def _rule(shown: OwnView) -> str | None:
    """Return what the deciding side may do. The page offers only what the rule allows."""
    offered = {option.value for option in shown.options} & {NAMES[DrawCard], NAMES[Stand]}
    if len(offered) > 1:
        return Advice.AS_YOU_PLEASE.value
    return {NAMES[DrawCard]: Advice.DRAW.value, NAMES[Stand]: Advice.STAND.value}[offered.pop()] if offered else None


def _last_round(last: Played | None) -> Json | None:
    if last is None:
        return None
    paid = last.staked if last.is_void else last.paid
    return {
        "id": last.round,
        "code": last.code,
        "is_void": last.is_void,
        "staked": last.staked,
        "paid": paid,
        "net": paid - last.staked,
    }
