"""API schema of a shared table: what its page shows, as plain values independent of language.

The public state is made from the page's view, so the API never shows a card before the page does.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import override
from rest_framework import serializers

from games.api import shapes
from games.api.shapes import Json, amount, amounts, currency, kind_of_money
from games.engine.cards import Card
from games.engine.coup import Outcome, Side, deal, total
from games.models import ShoeCut
from games.shared.pages import chips
from games.shared.pages.board import SealView, public_view
from games.shared.pages.scoreboard import beads_of
from games.shared.state import Cut, Own, State, own_state
from games.tables.presentation import HandView

PHASES = ("betting", "closed", "dealt", "settled", "void", "stopped", "paused", "closed_table", "waiting", "cutting")
OUTCOMES = tuple(outcome.value for outcome in Outcome)


class OpenHandSchema(serializers.Serializer[Any]):
    """The face-up cards of one side."""

    cards = serializers.ListField(child=serializers.CharField(), help_text='none to three: "9H", "TD"')
    total = serializers.IntegerField(
        min_value=0, max_value=9, allow_null=True, help_text="what they come to; null without a card"
    )


class TableRoundSchema(serializers.Serializer[Any]):
    """The round in progress, or the last one."""

    id = serializers.UUIDField(help_text="a bet says which round it is for")
    code = serializers.CharField(help_text="what people say to each other")
    number = serializers.IntegerField(help_text="in the shoe")
    is_void = serializers.BooleanField(help_text="whether every stake was returned")


class TableShoeSchema(serializers.Serializer[Any]):
    """The shoe on the table."""

    id = serializers.UUIDField(help_text="its proof is at `/fair/shoe/<id>/proof.json`, for anyone")
    number = serializers.IntegerField(help_text="at this table")
    commitment = serializers.CharField(
        allow_null=True,
        help_text="hex, known before the first bet: see the reading of one round; null once the shoe is spent",
    )
    cards_root = serializers.CharField(
        allow_null=True, help_text="hex: over all its cards, known before the first bet; null as the commitment"
    )
    entropy = serializers.CharField(
        allow_null=True,
        help_text="what went into its shuffle in addition to the seed: SHA-256 of `chances`; null if nobody has cut it",
    )
    chances = serializers.ListField(
        child=serializers.CharField(),
        help_text='what players added when they cut it, each as "digest value", in order, then "beacon chain round'
        ' signature" where a public beacon is used and came in time; none once the shoe is spent',
    )


class CutSchema(serializers.Serializer[Any]):
    """The next shoe, while players cut it: they add random numbers to its shuffle."""

    shoe = serializers.UUIDField(help_text="its id; what is added names it")
    commitment = serializers.CharField(help_text="hex: of the dealer to the seed, before anybody adds anything")
    bound_until = serializers.DateTimeField(help_text="until then digests are taken, from then on values")
    open_until = serializers.DateTimeField(help_text="until then values are taken")
    beacon_round = serializers.IntegerField(
        allow_null=True,
        help_text="round of the public beacon that goes in as well, afterwards; null where none is used",
    )
    seconds_to_bind = serializers.FloatField(help_text="until `bound_until`, at the moment of `at`, or of the answer")
    seconds_to_open = serializers.FloatField(help_text="until `open_until`, likewise")


class SpentShoeSchema(serializers.Serializer[Any]):
    """A shoe whose seed is public."""

    id = serializers.UUIDField()
    number = serializers.IntegerField(help_text="at this table")


class BeadSchema(serializers.Serializer[Any]):
    """The result of a round of the shoe."""

    outcome = serializers.ChoiceField(choices=OUTCOMES)
    player_pair = serializers.BooleanField()
    banker_pair = serializers.BooleanField()


class SharedStateSchema(serializers.Serializer[Any]):
    """A shared table as everyone sees it at one moment."""

    shape = serializers.ChoiceField(choices=("shared",))
    table = serializers.SlugField()
    mode = kind_of_money()
    table_version = serializers.IntegerField(help_text="under which limits and rules the round is played")
    at = serializers.DateTimeField(help_text="the moment, by the clock of the database, as every time here")
    phase = serializers.ChoiceField(
        choices=PHASES,
        help_text="of the round: betting, closed, dealt, settled, void; or of the table: stopped after a malfunction,"
        " paused, closed_table, waiting for its first round, or cutting its next shoe",
    )
    takes_bets = serializers.BooleanField()
    deadline = serializers.DateTimeField(
        allow_null=True, help_text="when betting ends, or the next round begins; null while cards are dealt"
    )
    seconds_left = serializers.FloatField(allow_null=True, help_text="until then, at the moment of `at`")
    round = TableRoundSchema(allow_null=True)
    player = OpenHandSchema()
    banker = OpenHandSchema()
    outcome = serializers.ChoiceField(
        choices=OUTCOMES, allow_null=True, help_text="once every card is face up; null before, and of a voided round"
    )
    shoe = TableShoeSchema(allow_null=True)
    spent_shoe = SpentShoeSchema(allow_null=True, help_text="the latest one whose seed is public")
    cut = CutSchema(allow_null=True, help_text="null unless players cut the next shoe now")
    results = BeadSchema(many=True, help_text="of this shoe's rounds in their order, without voided ones")


class SettledBetSchema(serializers.Serializer[Any]):
    """A settled bet."""

    bet = serializers.CharField(help_text="its code")
    stake = amount("what was staked")
    payout = amount("what came back, the stake included")
    result = serializers.ChoiceField(choices=("win", "push", "lose"))


class LastRoundSchema(serializers.Serializer[Any]):
    """The player's result in the latest round in which they took part."""

    id = serializers.UUIDField()
    code = serializers.CharField()
    is_void = serializers.BooleanField(help_text="whether every stake was returned")
    staked = amount("all stakes")
    paid = amount("all that came back")
    net = amount("what came back less what was staked")
    bets = SettledBetSchema(many=True, help_text="none of a voided round")


class SharedOwnSchema(serializers.Serializer[Any]):
    """The player's own data at a shared table."""

    currency = currency()
    version = serializers.IntegerField(help_text="counts changes of the bets")
    bets = amounts("bets on the current round of the table")
    staked = amount("the same over all bets; held on the account while bets are open, staked once they are closed")
    can_undo = serializers.BooleanField()
    last_stakes = amounts("what `rebet` would place")
    chips = serializers.ListField(child=serializers.IntegerField(), help_text="in the player's tray, small to large")
    balance = amount("what may still be bet")
    last_round = LastRoundSchema(allow_null=True, help_text="once it is over, until the player bets again")
    session_net = amount("what the session came to so far; null where none runs", allow_null=True)


class SharedOverSchema(shapes.OverSchema):
    """A finished round of a shared table."""

    cards = serializers.ListField(
        child=serializers.CharField(), help_text="in dealing order; none where it was voided before it was paid"
    )
    player = OpenHandSchema()
    banker = OpenHandSchema()
    outcome = serializers.ChoiceField(choices=OUTCOMES, allow_null=True, help_text="null of a voided round")


def public(state: State) -> Json:
    """Return the table as everyone sees it at the moment of *state*."""
    with override("en"):
        shown = public_view(state, "en")
    deadline = state.round.deadline if state.round and shown.countdown else None
    if shown.seal.cut is not None:
        deadline = shown.seal.cut.open_until
    return {
        "shape": "shared",
        "table": state.slug,
        "mode": state.mode.name.lower(),
        "table_version": state.table_version,
        "at": state.now,
        "phase": shown.phase,
        "takes_bets": state.takes_bets,
        "deadline": deadline,
        "seconds_left": max(0.0, (deadline - state.now).total_seconds()) if deadline else None,
        "round": _round(state),
        "player": _hand(shown.player),
        "banker": _hand(shown.banker),
        "outcome": shown.outcome or None,
        **shoes(shown.seal, state.now),
        "results": [
            {"outcome": bead.outcome.value, "player_pair": bead.player_pair, "banker_pair": bead.banker_pair}
            for bead in beads_of(state.results)
        ],
    }


def own(state: State, row: Mapping[str, Any]) -> Json:
    """Return the own data of the player in a row of `READ_OWN`."""
    mine = own_state(row)
    is_now = state.round is not None and mine.round == state.round.id
    stakes = mine.stakes if is_now and not mine.is_void else {}
    return {
        "currency": mine.currency,
        "version": mine.version,
        "bets": dict(stakes),
        "staked": sum(stakes.values()),
        "can_undo": state.lets_bets_go and is_now and mine.can_undo,
        "last_stakes": dict(mine.last_stakes if is_now else mine.stakes or mine.last_stakes),
        "chips": list(chips.tray(state.limits(mine.currency), mine.chips)),
        "balance": mine.funds,
        "last_round": _last_round(mine),
        "session_net": mine.net,
    }


def over(row: Mapping[str, Any]) -> Json:
    """Return a finished round from a row of `READ_OVER`."""
    cards = [Card.parse(code) for code in row["cards"].split()]
    coup = deal(cards) if cards else None
    hands = {
        side.value: {
            "cards": [str(card) for card in coup.hand(side)] if coup else [],
            "total": total(coup.hand(side)) if coup else None,
        }
        for side in Side
    }
    outcome = coup.outcome.value if coup and not row["is_void"] else None
    return shapes.over(row) | hands | {"cards": row["cards"].split(), "outcome": outcome}


def _round(state: State) -> Json | None:
    played = state.round
    if played is None:
        return None
    return {"id": played.id, "code": played.code, "number": played.number, "is_void": played.is_void}


def _hand(hand: HandView) -> Json:
    return {"cards": [card.code for card in hand.cards], "total": hand.total if hand.cards else None}


def shoes(seal: SealView, now: datetime) -> Json:
    """Return the shoe on the table, the latest one whose seed is public, and the one that is being cut."""
    shoe = {
        "id": seal.shoe_id,
        "number": seal.shoe_number,
        "commitment": seal.commitment or None,
        "cards_root": seal.root or None,
        "entropy": seal.entropy or None,
        "chances": list(seal.chances),
    }
    return {
        "shoe": shoe if seal.shoe_id else None,
        "spent_shoe": {"id": seal.spent_shoe, "number": seal.spent_number} if seal.spent_shoe else None,
        "cut": seal.cut and cut(seal.cut, now, seal.cut.beacon_round),
    }


def cut(shown: Cut | ShoeCut, now: datetime, beacon_round: int | None) -> Json:
    """Return a shoe that players are cutting."""
    return {
        "shoe": shown.shoe_id if isinstance(shown, ShoeCut) else shown.shoe,
        "commitment": shown.commitment,
        "bound_until": shown.bound_until,
        "open_until": shown.open_until,
        "beacon_round": beacon_round,
        "seconds_to_bind": max(0.0, (shown.bound_until - now).total_seconds()),
        "seconds_to_open": max(0.0, (shown.open_until - now).total_seconds()),
    }


def _last_round(mine: Own) -> Json | None:
    if mine.round is None or not (mine.bets or mine.is_void):
        return None
    staked = sum(line.stake for line in mine.bets.values()) or sum(mine.stakes.values())
    bets = {} if mine.is_void else mine.bets
    paid = staked if mine.is_void else mine.paid
    return {
        "id": mine.round,
        "code": mine.code,
        "is_void": mine.is_void,
        "staked": staked,
        "paid": paid,
        "net": paid - staked,
        "bets": [
            {"bet": bet, "stake": line.stake, "payout": line.payout, "result": line.result}
            for bet, line in bets.items()
        ],
    }
