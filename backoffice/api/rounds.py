"""Rounds in the compliance API: search as on the page of rounds, and read one round in full to verify it."""

from typing import Any, Final, Literal
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backoffice.api import round_answers
from backoffice.api.access_log import LookedAt
from backoffice.api.round_schemas import FoundRoundSchema, GoingRoundSchema, WholeRoundSchema
from backoffice.rounds.forms import OUTCOMES
from backoffice.rounds.views import READERS
from games.models import Table
from games.variants import GAMES
from games.verification.records import read
from games.verification.search import Status, Wanted, find, in_progress
from players.api.paging import Numbered, numbered, page
from players.api.problems import NOT_FOUND, Problem
from players.api.reading import LARGEST, Moment, query_of
from players.api.schema import Link, Linked, page_of
from players.models import Scope
from wallet.models import Currency, Mode

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


class Rounds(LookedAt):
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
        items = FoundRoundSchema(map(round_answers.found, shown), many=True).data
        return Response(page(list(items), following))


class RoundsGoing(LookedAt):
    """Rounds in progress."""

    scopes = {"GET": Scope.ROUNDS}
    permissions = READERS
    what = "rounds"

    @extend_schema(operation_id="compliance_rounds_going", responses=page_of(GoingRoundSchema))
    def get(self, request: Request) -> Response:
        """List the rounds in progress at shared tables, newest first, at most one for each table."""
        rows = in_progress(Wanted())
        return Response(page(list(GoingRoundSchema(map(round_answers.going, rows), many=True).data), None))


class OneRound(LookedAt):
    """One finished round."""

    scopes = {"GET": Scope.ROUNDS}
    permissions = READERS
    what = "the recall of a round"

    @extend_schema(
        operation_id="compliance_round",
        responses={
            200: Linked(WholeRoundSchema, event=Link("event", {"event_id": "$response.body#/events/0/id"})),
        },
    )
    def get(self, request: Request, round_id: UUID) -> Response:
        """Read a finished round in full and verify it."""
        kept = read(round_id)
        if kept is None:
            raise Problem(NOT_FOUND)
        self.show(kept)
        may_see = self.request.user.has_perm("games.view_incident")
        return Response(WholeRoundSchema(round_answers.whole(kept, shows_incidents=may_see)).data)


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
