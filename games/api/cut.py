"""Player API for the cut of a live table: random numbers for the shuffle of its next shoe."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from games.api.live_table_access import HERE, AtLiveTable
from games.api.problems import AT_A_TABLE
from games.api.shapes import Json
from games.api.shared_schema import CutSchema
from games.api.shared_schema import cut as written
from games.models import LiveTable, ShoeBeacon, ShoeCut
from games.shared import moves
from games.tables import clock
from players.api import schema
from players.api.problems import Problem, register
from players.api.reading import Hex, Id, Strict, body_of
from players.api.schema import Link, Linked, example
from wallet.models import Mode

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


LINKS: Final = {"state": Link("table_state", HERE)}
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

    @extend_schema(operation_id="cut_bind", request=DigestBody, responses={200: Linked(CutSchema, **LINKS)} | ANSWERS)
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Bind yourself to a value for the next shoe, by its SHA-256, until `bound_until`.

        Draw 16 random bytes after you have read the commitment. You need a seat, and can be bound once. Nobody
        knows the value of anybody else then; send yours to `cut/value/` when all are bound.
        """
        asked = body_of(request, DigestBody)
        return self.add(slug, mode, moves.bind_chance, asked["shoe"], asked["digest"])


class Value(AtCut):
    """Opening the value."""

    @extend_schema(operation_id="cut_open", request=ValueBody, responses={200: Linked(CutSchema, **LINKS)} | ANSWERS)
    def post(self, request: Request, slug: str, mode: Mode) -> Response:
        """Open the value that you are bound to, from `bound_until` to `open_until`.

        It goes into the shuffle with those of the others. When the shoe is on the table, `shoe.chances` has your
        digest and value in a line; `shoe.entropy` is the SHA-256 of the line `sabot cut v1` and all these lines, each
        ended by a line feed.
        """
        asked = body_of(request, ValueBody)
        return self.add(slug, mode, moves.open_chance, asked["shoe"], asked["value"])
