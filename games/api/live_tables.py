"""Player API for live tables: bets at shared tables, seats, and random numbers for the shuffle of the next shoe."""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, Final

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games.api.live_table_access import HERE, AtLiveTable
from games.api.problems import AT_A_TABLE, demand_api_client_may_play
from games.api.shapes import Json
from games.api.shared_schema import CutSchema, SharedOwnSchema
from games.api.shared_schema import cut as written
from games.betting.rules import Change
from games.errors import ApiClientMayNotPlay
from games.models import LiveSeat, LiveTable, Shape, ShoeBeacon, ShoeCut
from games.shared import bets, moves, seats
from games.tables import clock
from games.tables.access import demand_eligible
from players.api import schema
from players.api.problems import Problem, register
from players.api.reading import Hex, Id, MinorUnits, Strict, Text, Whole, body_of
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
    "round-elsewhere",
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


class Seat(AtLiveTable):
    """A seat at a table."""

    @extend_schema(
        operation_id="seat_take",
        request=None,
        responses={200: Linked(SharedOwnSchema, **LINKS)} | schema.refusals(*AT_A_TABLE, "api-clients-may-not-play"),
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Take a seat at a shared table. API clients take none at Chemin de Fer.

        If your jurisdiction allows only one table at a time, this becomes that table.
        """
        body_of(request, Strict)
        live, player, session = self.live_table(slug, mode), self.player, self.session()
        registers.ask_where_stale(player)  # outside the transaction

        def sit_down() -> None:
            if live.table.shape == Shape.CHEMIN:
                raise ApiClientMayNotPlay
            demand_eligible(player, mode, session)
            seats.open_seat(player, live)

        return self.do(live, sit_down)


PASSED: Final = register("cut-passed", HTTPStatus.CONFLICT, _("This step of the cut is not possible now"))


class OfCut(Strict):
    """A call for the shoe that is being cut; it is refused for any other."""

    shoe = Id(help_text="`cut.shoe` of the table")


@example(shoe="0198c6a0-1b2c-7d3e-8f40-112233445566", digest="5f1d7d6c7a5f0c6a" * 4)
class DigestBody(OfCut):
    """The digest that binds the player to a value."""

    digest = Hex(length=64, help_text="SHA-256 of the value")


@example(shoe="0198c6a0-1b2c-7d3e-8f40-112233445566", value="00112233445566778899aabbccddeeff")
class ValueBody(OfCut):
    """The value to which the player is bound."""

    value = Hex(length=32, help_text="16 random bytes; the digest is over these 32 characters")


CUT_LINKS: Final = {"state": Link("table_state", HERE)}
ANSWERS: Final = schema.refusals(*AT_A_TABLE, "cut-passed")


class AtCut(AtLiveTable):
    """A view for a live table whose next shoe is being cut."""

    def add(self, slug: str, mode: Mode, move: Callable[[int, Any, int, str], bool], *said: Any) -> Response:
        """Run a move of the cut, and answer with the cut."""
        live, player, _session = self.live_table(slug, mode), self.player, self.session()
        shoe, text = said

        def service() -> None:
            if not move(live.pk, shoe, player.pk, text):
                raise Problem(PASSED)

        return self.do(live, service)

    def done(self, live: LiveTable) -> Json:
        """Return the cut."""
        cut = ShoeCut.objects.get(live_table=live)
        beacon = ShoeBeacon.objects.filter(shoe_id=cut.shoe_id).first()
        return written(cut, clock.now(), beacon.round if beacon else None)


class Digest(AtCut):
    """Being bound to a value."""

    @extend_schema(
        operation_id="cut_bind", request=DigestBody, responses={200: Linked(CutSchema, **CUT_LINKS)} | ANSWERS
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Bind yourself to a value for the next shoe, by its SHA-256, until `bound_until`.

        Draw 16 random bytes after you have read the commitment. You need a seat, and can be bound once. Nobody
        knows the value of anybody else then; send yours to `cut/value/` when all are bound.
        """
        asked = body_of(request, DigestBody)
        return self.add(slug, mode, moves.bind_chance, asked["shoe"], asked["digest"])


class Value(AtCut):
    """Opening the value."""

    @extend_schema(
        operation_id="cut_open", request=ValueBody, responses={200: Linked(CutSchema, **CUT_LINKS)} | ANSWERS
    )
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Open the value that you are bound to, from `bound_until` to `open_until`.

        It goes into the shuffle with those of the others. When the shoe is on the table, `shoe.chances` has your
        digest and value in a line; `shoe.entropy` is the SHA-256 of the line `sabot cut v1` and all these lines, each
        ended by a line feed.
        """
        asked = body_of(request, ValueBody)
        return self.add(slug, mode, moves.open_chance, asked["shoe"], asked["value"])
