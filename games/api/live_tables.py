"""Player API for live tables: bets, Chemin de Fer and seats."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games.api.chemin_schema import ACTIONS, CALLS
from games.api.live_table_access import HERE, AtLiveTable, SeatedSchema
from games.api.problems import AT_A_TABLE, demand_api_client_may_play
from games.api.shared_schema import SharedOwnSchema
from games.betting.controls import Change
from games.chemin import play
from games.chemin.pages.options import NAMES
from games.engine.chemin import Call
from games.engine.chemin.actions import MakeCall
from games.engine.chemin.rules import MOST_SEATS
from games.models import LiveSeat, Shape
from games.shared import bets, seats
from games.tables.access import demand_eligible
from players.api import schema
from players.api.reading import Id, MinorUnits, Strict, Text, Whole, body_of
from players.api.schema import Link, Linked, example
from players.protection import registers
from wallet.models import Mode

LARGEST_NUMBER: Final = 2**31 - 1  # of versions
LONGEST_CODE: Final = 20  # of a bet
CHANGES: Final = (Change.UNDO, Change.CLEAR, Change.DOUBLE, Change.REPEAT)
REFUSED: Final = (
    *AT_A_TABLE,
    "house-stopped",
    "table-paused",
    "table-stopped",
    "table-waits",
    "table-full",
    "api-clients-may-not-play",
    "too-soon",
    "stale",
    "too-late",
    "balance-too-low",
    "limit-reached",
    "not-offered",
    "nothing-to-repeat",
    "unknown-chip",
    "under-minimum",
    "over-maximum",
    "off-step",
    "bets-exclude",
    "main-bet-missing",
    "bet-refused",
)


class InRound(Strict):
    """A call for one round; it is refused for any other."""

    round_id = Id(help_text="of the round that takes bets")


class InVersion(InRound):
    """A call for one round under one table version."""

    table_version = Whole(min_value=1, max_value=LARGEST_NUMBER, help_text="as the table was read; refused at another")


@example(round_id="0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", table_version=3, bet="banker", chip=5000)
class BetBody(InVersion):
    """One chip on a bet."""

    bet = Text(max_length=LONGEST_CODE, help_text="its code")
    chip = MinorUnits(help_text="one of the table's chips, in minor units")


@example(round_id="0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", change="undo")
class BetChangeBody(InRound):
    """A change of all bets."""

    change = serializers.ChoiceField(choices=[each.value for each in CHANGES])


@example(round_id="0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", table_version=3, bets={"banker": 5000, "tie": 1000})
class BetSlipBody(InVersion):
    """Several bets at once."""

    bets = serializers.DictField(
        child=MinorUnits(),
        allow_empty=False,
        help_text="bet → what comes on top, in minor units: within the limits and of the step, not bound to the chips",
    )


LINKS: Final = {"state": Link("table_state", HERE), "bet_change": Link("bet_change", HERE)}
OWN: Final = {200: Linked(SharedOwnSchema, **LINKS)} | schema.refusals(*REFUSED)


class AtSharedTable(AtLiveTable):
    """A view for one shared table and one kind of money."""

    shapes: ClassVar = (Shape.SHARED,)

    def bet(self, slug: str, mode: Mode, verb: Callable[..., LiveSeat], asked: Mapping[str, Any]) -> Response:
        """Run a verb of `games.shared.bets` and answer with the player's bets."""
        live, player, session = self.live_table(slug, mode), self.player, self.session()
        registers.ask_where_due(player)  # outside the transaction

        def service() -> None:
            demand_api_client_may_play(player, mode)
            seats.seat_at(player, live)
            verb(player=player, live_table_id=live.pk, session=session, **asked)

        return self.do(live, service)


class Bets(AtSharedTable):
    """Bets chip by chip."""

    @extend_schema(operation_id="bet", request=BetBody, responses=OWN)
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Put one chip on a bet. The amount is held on your account until betting closes."""
        return self.bet(slug, mode, bets.add_chip, body_of(request, BetBody))


class BetChanges(AtSharedTable):
    """Changes of all bets."""

    @extend_schema(operation_id="bet_change", request=BetChangeBody, responses=OWN)
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Undo the latest change, clear or double all bets, or repeat the bets of your last round."""
        asked = body_of(request, BetChangeBody)
        return self.bet(slug, mode, bets.change_slip, asked | {"change": Change(asked["change"])})


class BetSlip(AtSharedTable):
    """Several bets at once."""

    @extend_schema(operation_id="bet_slip", request=BetSlipBody, responses=OWN)
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Add several bets to those on the table, all or none. `undo` removes them together."""
        asked = body_of(request, BetSlipBody)
        return self.bet(slug, mode, partial(bets.lay_slip, stakes=asked.pop("bets")), asked)


LARGEST_QUESTION: Final = 2**63 - 1
STANDS_STILL: Final = ("house-stopped", "table-paused", "table-stopped", "croupier-refuses")
REFUSED_AT_CHEMIN: Final = (
    *AT_A_TABLE,
    *STANDS_STILL,
    "question-passed",
    "table-waits",
    "balance-too-low",
    "limit-reached",
    "stale",
)
LINKS_OF_CHEMIN: Final = {"state": Link("table_state", HERE)}
SEATED: Final = {200: Linked(SeatedSchema, **LINKS_OF_CHEMIN)}


@example(question=17, action="take_bank", amount=12300)
class DecisionBody(Strict):
    """An answer to the current question."""

    question = Whole(min_value=0, max_value=LARGEST_QUESTION, help_text="which one it answers, so that it is no other")
    action = serializers.ChoiceField(choices=ACTIONS)
    amount = MinorUnits(required=False, help_text="where the option has one, in minor units")
    call = serializers.ChoiceField(choices=CALLS, required=False, help_text="with make_call, and with nothing else")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a call with make_call and only there. Raises ValidationError."""
        if (attrs["action"] == NAMES[MakeCall]) != ("call" in attrs):
            raise serializers.ValidationError(
                {"call": _("A call is required with make_call and not allowed with any other action.")}
            )
        return attrs


class AtCheminTable(AtLiveTable):
    """A view for one Chemin de Fer table and one kind of money."""

    shapes: ClassVar = (Shape.CHEMIN,)


class Decisions(AtCheminTable):
    """Decisions of the player."""

    @extend_schema(
        operation_id="decision", request=DecisionBody, responses=SEATED | schema.refusals(*REFUSED_AT_CHEMIN)
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Answer the current question with one of the options that the table offers you."""
        asked, live, player, session = self._asked(request), self.live_table(slug, mode), self.player, self.session()
        registers.ask_where_due(player)  # outside the transaction
        return self.do(live, lambda: play.decide(player=player, live_table_id=live.pk, session=session, **asked))

    def _asked(self, request: Request) -> dict[str, Any]:
        said = body_of(request, DecisionBody)
        call = said.get("call")
        return {
            "question": said["question"],
            "action_name": said["action"],
            "amount": said.get("amount"),
            "call": Call(call) if call else None,
        }


class Away(AtCheminTable):
    """Stepping away from the table."""

    @extend_schema(
        operation_id="seat_away", request=None, responses=SEATED | schema.refusals(*AT_A_TABLE, *STANDS_STILL)
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Keep your seat for a while without being asked."""
        body_of(request, Strict)
        return self.stand(self.live_table(slug, mode), play.step_away)


class Back(AtCheminTable):
    """Coming back to the table."""

    @extend_schema(
        operation_id="seat_back", request=None, responses=SEATED | schema.refusals(*AT_A_TABLE, *STANDS_STILL)
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Take part again after stepping away or asking to leave."""
        body_of(request, Strict)
        live, player, session = self.live_table(slug, mode), self.player, self.session()
        registers.ask_where_stale(player)  # outside the transaction
        return self.do(live, lambda: play.come_back(player=player, live_table_id=live.pk, session=session))


TAKEN: Final = PolymorphicProxySerializer(
    component_name="SeatTaken", serializers=[SharedOwnSchema, SeatedSchema], resource_type_field_name=None
)


@example(seat=3)
class SeatBody(Strict):
    """Which seat to take."""

    seat = Whole(
        required=False,
        min_value=1,
        max_value=MOST_SEATS,
        help_text="at a Chemin de Fer table alone; without it the house's chance chooses among the free ones",
    )


class Seat(AtLiveTable):
    """A seat at a table."""

    @extend_schema(
        operation_id="seat_take",
        request=SeatBody,
        responses={200: Linked(TAKEN, **LINKS_OF_CHEMIN)} | schema.refusals(*AT_A_TABLE, *STANDS_STILL),
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Take a seat.

        If your jurisdiction allows only one table at a time, this becomes that table.
        """
        asked, live, player, session = (
            body_of(request, SeatBody),
            self.live_table(slug, mode),
            self.player,
            self.session(),
        )
        if live.table.shape == Shape.SHARED and asked:
            raise serializers.ValidationError({"seat": _("This table has no seats to choose from.")})
        registers.ask_where_stale(player)  # outside the transaction

        def sit_down() -> None:
            if live.table.shape == Shape.CHEMIN:
                play.join(player=player, live_table_id=live.pk, session=session, seat_number=asked.get("seat"))
            else:
                demand_eligible(player, mode, session)
                seats.open_seat(player, live)

        return self.do(live, sit_down)

    @extend_schema(
        operation_id="seat_leave", request=None, responses=SEATED | schema.refusals(*AT_A_TABLE, *STANDS_STILL)
    )
    def delete(self, request: Request, slug: str, mode: Mode) -> Response:
        """Leave a Chemin de Fer table, at once or after the coup in which you take part."""
        body_of(request, Strict)
        live = self.live_table(slug, mode)
        if live.table.shape != Shape.CHEMIN:
            raise Http404
        return self.stand(live, play.leave)
