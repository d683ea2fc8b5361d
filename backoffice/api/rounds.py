"""Rounds in the compliance API: search rounds, and read one in full to verify it.

Amounts are minor units of the currency in the same object.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backoffice.api.events import AccessLoggedView
from backoffice.rounds import OUTCOMES, READERS
from games.api.shapes import ProvenCardSchema
from games.history.card_proofs import proven
from games.models import OPEN_PHASES, CheminCoup, CheminMove, Incident, LiveRound, Participation, Shoe, Table
from games.tables.chemin_rules import CheminRules
from games.variants import GAMES
from games.verification.records import RoundRecords, read
from games.verification.search import Status, Wanted, find, in_progress
from games.verification.service import verify_records
from players.api.problems import NOT_FOUND, Problem
from players.api.reading import LARGEST, Moment, Numbered, numbered, page, query_of
from players.api.schema import Link, Linked, page_of
from players.models import Scope
from wallet.models import Currency, Mode

WHOSE = "player:12; null for a house player"


class BetSchema(serializers.Serializer[Any]):
    """One bet and its result."""

    bet = serializers.CharField()
    stake = serializers.IntegerField()
    payout = serializers.IntegerField(help_text="the stake included")
    commission = serializers.IntegerField()
    result = serializers.CharField(help_text="win, push, lose; void where the round was voided before settlement")


class RefundSchema(serializers.Serializer[Any]):
    """Change of one player's balance when the round was voided."""

    returned = serializers.IntegerField(
        help_text="stakes returned less payouts reversed; negative where the round had won"
    )
    shortfall = serializers.IntegerField(help_text="covered by the house because the winnings had been spent")


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
    code = serializers.CharField(help_text="round code: 7Q4K-0193-BD2M")
    table = serializers.IntegerField()
    game = serializers.CharField()
    outcome = serializers.CharField()
    at = serializers.DateTimeField()
    void = serializers.CharField(allow_null=True, help_text="reason of the void; null if not void")


class RoundInProgressSchema(serializers.Serializer[Any]):
    """A round in progress at a shared table. Its cards and bets are not shown."""

    round = serializers.UUIDField()
    code = serializers.CharField()
    table = serializers.IntegerField()
    game = serializers.CharField()
    mode = serializers.CharField(help_text="R for real money, F for free")
    phase = serializers.ChoiceField(OPEN_PHASES)
    opened_at = serializers.DateTimeField()
    is_interrupted = serializers.BooleanField(help_text="its table is stopped")


class WholePartSchema(PartSchema):
    """One player’s part in a round, bet by bet."""

    bets = BetSchema(many=True)
    refund = RefundSchema(allow_null=True)


class ShoeSchema(serializers.Serializer[Any]):
    """The shoe of a shared round. Card positions count from 0 in the order of the shuffle."""

    id = serializers.UUIDField()
    number = serializers.IntegerField(help_text="counts the shoes of the table")
    decks = serializers.IntegerField()
    commitment = serializers.CharField(help_text="hex; docs/randomness.md says of what")
    rules_digest = serializers.CharField(help_text="hex SHA-256 of the rules, which the commitment names")
    entropy = serializers.CharField(allow_blank=True, help_text="what went into the shuffle in addition to the seed")
    cards_root = serializers.CharField(help_text="hex: over the leaves of all cards")
    dealer_key = serializers.CharField(help_text="hex: the dealer’s public key (Ed25519)")
    signature = serializers.CharField(help_text="hex: the dealer’s, of how the shoe begins")
    seed = serializers.CharField(allow_null=True, help_text="hex, public once the shoe has ended; null before")
    burn_card = serializers.CharField()
    burned = serializers.IntegerField(help_text="cards, the burn card included")
    cut = serializers.IntegerField(help_text="the cut card is in front of this card")
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
    decider = serializers.CharField(help_text="`player`, `croupier`, `house_player`, `house`")
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
    recomputed = serializers.CharField()


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
    commitment = serializers.CharField(help_text="hex; docs/randomness.md says of what")
    seed = serializers.CharField(
        allow_null=True, help_text="hex, of a round with a shoe of its own; null before its cards, and at shared tables"
    )
    player_value = serializers.CharField(allow_blank=True, help_text="mixed into the shuffle by the player’s wish")
    shoe = ShoeSchema(allow_null=True)
    first_card = serializers.IntegerField(
        allow_null=True, help_text="how many cards had left the shoe before; null where the round had one of its own"
    )
    cards = serializers.ListField(child=serializers.CharField(), help_text="in dealing order")
    proven_cards = ProvenCardSchema(many=True, help_text="what the dealer dealt from the shoe for the round")
    outcome = serializers.CharField(allow_blank=True)
    parts = WholePartSchema(many=True)
    coup = CoupSchema(allow_null=True)
    void = VoidSchema(allow_null=True)
    incidents = IncidentSchema(many=True, help_text="only with permission to read incidents; otherwise empty")
    events = RoundEventSchema(many=True)
    obstacle = serializers.CharField(allow_blank=True, help_text="why it could not be verified; empty if verified")
    differences = DifferenceSchema(many=True)


Said = dict[str, Any]


def found(part: Participation) -> Said:
    """Return one player's part in a round as a search result."""
    played = part.round
    return _part(part) | {
        "round": played.pk,
        "code": played.code,
        "table": part.table_id,
        "game": played.table_version.table.variant,
        "outcome": played.outcome,
        "at": played.at,
        "void": played.void.reason if hasattr(played, "void") else None,
    }


def in_progress_row(live: LiveRound) -> Said:
    """Return a round in progress."""
    table = live.live_table
    return {
        "round": live.pk,
        "code": live.code,
        "table": table.table_id,
        "game": table.table.variant,
        "mode": table.mode,
        "phase": live.phase,
        "opened_at": live.opened_at,
        "is_interrupted": table.stopped_by_id is not None,
    }


def whole(records: RoundRecords, *, shows_incidents: bool) -> Said:
    """Return everything stored about a finished round, and the result of its verification."""
    played, version = records.round, records.round.table_version
    verification = verify_records(records)
    is_own = played.seed is not None and bool(played.cards)
    return {
        "id": played.pk,
        "code": played.code,
        "at": played.at,
        "table": version.table_id,
        "table_name": version.table.name,
        "table_version": version.number,
        "game": version.table.variant,
        "mode": played.mode,
        "rules_version": version.rules_version,
        "rules_digest": version.rules_digest,
        "commitment": played.commitment,
        "seed": bytes(played.seed or b"").hex() if is_own else None,
        "player_value": played.player_value,
        "shoe": _shoe(played.shoe) if played.shoe else None,
        "first_card": played.first_card,
        "cards": played.cards.split(),
        "proven_cards": [asdict(card) for card in proven(played.shoe, played.pk)] if played.shoe else [],
        "outcome": played.outcome,
        "parts": list(_parts(records)),
        "coup": _coup(records),
        "void": _picked(played.void, "reason", "by", "at") if records.is_void else None,
        "incidents": [_incident(each) for each in verification.incidents] if shows_incidents else [],
        "events": [_picked(each, "id", "kind", "leaf") for each in records.events],
        "obstacle": verification.deal.obstacle,
        "differences": [
            {"what": each.what, "stored": each.stored, "recomputed": each.again}
            for each in (*verification.differences, *(earlier.cards for earlier in verification.earlier_that_differ))
        ],
    }


def _part(part: Participation) -> Said:
    amounts = ("currency", "mode", "staked", "paid", "commission", "balance_before", "balance_after", "session")
    return {"player": f"player:{part.player_id}"} | _picked(part, *amounts)


def _parts(records: RoundRecords) -> Iterator[Said]:
    back = {each.player_id: each for each in records.round.void.parts.all()} if records.is_void else {}
    for part in records.parts:
        bets = [_picked(each, "bet", "stake", "payout", "commission", "result") for each in part.wagers.all()]
        returned = back.get(part.player_id)
        refund = _picked(returned, "returned", "shortfall") if returned else None
        yield _part(part) | {"bets": bets, "refund": refund}


def _shoe(shoe: Shoe) -> Said:
    committed = ("commitment", "rules_digest", "entropy", "dealer_key", "burn_card", "burned", "cut")
    records = _picked(shoe, "id", "number", "decks", *committed, "opened_at", "ended_at")
    seed = None if shoe.seed is None else bytes(shoe.seed).hex()
    return records | {"seed": seed, "cards_root": shoe.root, "signature": bytes(shoe.signature).hex()}


def _coup(records: RoundRecords) -> Said | None:
    rows = CheminCoup.objects.select_related("banker", "punter").prefetch_related("stakes__seat")
    row = rows.filter(pk=records.round.pk).first()
    if row is None:
        return None
    moves = CheminMove.objects.filter(round_id=row.pk).select_related("seat").order_by("number")
    facts = ("bank", "at_risk", "call", "outcome", "tax")
    hands = ("punter_total", "banker_total", "punter_draws", "banker_draws")
    return _picked(row, *facts, *hands) | {
        "currency": CheminRules.of(records.round.table_version.limits).currency,
        "banker": row.banker.number,
        "banker_player": _player_name(row.banker_player_id),
        "punter": row.punter.number if row.punter else None,
        "stakes": [
            {"seat": each.seat.number, "player": _player_name(each.player_id)} | _picked(each, "stake", "returned")
            for each in row.stakes.all()
        ],
        "moves": list(_moves(moves)),
    }


def _moves(moves: Iterable[CheminMove]) -> Iterator[Said]:
    for each in moves:
        said = _picked(each, "number", "kind", "amount", "call", "decider", "asked_at", "at")
        yield said | {"seat": each.seat.number if each.seat else None}


def _incident(found_: Incident) -> Said:
    ruling = found_.ruling.ruling if hasattr(found_, "ruling") else None
    return {"id": found_.pk, "ruling": ruling} | _picked(found_, "kind", "cause", "findings", "done", "at")


def _player_name(player: int | None) -> str | None:
    return None if player is None else f"player:{player}"


def _picked(row: object, *names: str) -> Said:
    return {name: getattr(row, name) for name in names}


END: Final = 2**63 - 1
AMOUNTS: Final = ("staked_least", "staked_most", "paid_least", "paid_most")


class Amount(serializers.IntegerField):
    """Query parameter for an amount in minor units."""

    def __init__(self) -> None:
        super().__init__(required=False, min_value=0, max_value=LARGEST, help_text="minor units; goes with currency")


class RoundsAsked(Numbered):
    """Query for finished rounds. Each condition narrows the list."""

    player = serializers.IntegerField(required=False, min_value=1, max_value=END, help_text="12 for player:12")
    since = Moment(required=False, help_text="over then or later")
    until = Moment(required=False, help_text="over before")
    table = serializers.IntegerField(required=False, min_value=1, max_value=END, help_text="1 for table:1")
    game = serializers.ChoiceField(tuple(GAMES), required=False)
    mode = serializers.ChoiceField(Mode.values, required=False, help_text="R for real money, F for free")
    status = serializers.ChoiceField((Status.COMPLETE.value, Status.VOID.value), required=False)
    won_by = serializers.ChoiceField(tuple(OUTCOMES), required=False, help_text="punters stand with player")
    currency = serializers.ChoiceField(Currency.values, required=False)
    staked_least = Amount()
    staked_most = Amount()
    paid_least = Amount()
    paid_most = Amount()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a currency where an amount is given."""
        if "currency" not in attrs and any(name in attrs for name in AMOUNTS):
            message = self.fields["currency"].error_messages["required"]
            raise serializers.ValidationError({"currency": [message]}, code="required")
        return attrs


class Rounds(AccessLoggedView):
    """Finished rounds."""

    scopes = {"GET": Scope.ROUNDS}
    permissions = READERS
    what = "rounds"

    @extend_schema(
        operation_id="compliance_rounds",
        parameters=[RoundsAsked],
        responses={
            200: Linked(
                page_of(FoundRoundSchema),
                round=Link("compliance_round", {"round_id": "$response.body#/items/0/round"}),
            )
        },
    )
    def get(self, request: Request) -> Response:
        """Search finished rounds, newest first, with one line for each player’s part."""
        asked = query_of(request, RoundsAsked)
        rows = find(wanted(asked), before=asked.get("cursor"), limit=asked["limit"] + 1)
        shown, following = numbered(rows, asked["limit"], lambda row: row.pk)
        self.show(*(part.player_id for part in shown))
        items = FoundRoundSchema(map(found, shown), many=True).data
        return Response(page(list(items), following))


class RoundsInProgress(AccessLoggedView):
    """Rounds in progress."""

    scopes = {"GET": Scope.ROUNDS}
    permissions = READERS
    what = "rounds"

    @extend_schema(operation_id="compliance_rounds_in_progress", responses=page_of(RoundInProgressSchema))
    def get(self, request: Request) -> Response:
        """List the rounds in progress at shared tables, newest first, at most one for each table."""
        rows = in_progress(Wanted())
        return Response(page(list(RoundInProgressSchema(map(in_progress_row, rows), many=True).data), None))


class OneRound(AccessLoggedView):
    """One finished round."""

    scopes = {"GET": Scope.ROUNDS}
    permissions = READERS
    what = "verification of a round"

    @extend_schema(
        operation_id="compliance_round",
        responses={
            200: Linked(WholeRoundSchema, event=Link("event", {"event_id": "$response.body#/events/0/id"})),
        },
    )
    def get(self, request: Request, round_id: UUID) -> Response:
        """Read a finished round in full and verify it."""
        records = read(round_id)
        if records is None:
            raise Problem(NOT_FOUND)
        self.show(records)
        may_see = self.request.user.has_perm("games.view_incident")
        return Response(WholeRoundSchema(whole(records, shows_incidents=may_see)).data)


def wanted(asked: dict[str, Any]) -> Wanted:
    """Return the round search that a valid query asks for."""

    def least_most(what: Literal["staked", "paid"]) -> tuple[int | None, int | None]:
        return asked.get(f"{what}_least"), asked.get(f"{what}_most")

    return Wanted(
        players=(asked["player"],) if "player" in asked else None,
        since=asked.get("since"),
        before=asked.get("until"),
        tables=_tables(asked),
        modes=(Mode(asked["mode"]),) if "mode" in asked else tuple(Mode),
        currency=asked.get("currency", ""),
        staked=least_most("staked"),
        paid=least_most("paid"),
        outcome=OUTCOMES[asked["won_by"]] if "won_by" in asked else (),
        status=Status(asked["status"]) if "status" in asked else None,
    )


def _tables(asked: dict[str, Any]) -> tuple[int, ...] | None:
    if "table" not in asked and "game" not in asked:
        return None
    meant = {name: asked[key] for key, name in (("table", "pk"), ("game", "variant")) if key in asked}
    return tuple(Table.objects.filter(**meant).values_list("pk", flat=True))
