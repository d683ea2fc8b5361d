"""API of seats at live tables: take a seat before staking, and leave it at Chemin de Fer."""

from typing import Final

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games.api.chemin import LINKS, SEATED, STANDS_STILL
from games.api.live_table_access import AtLiveTable, SeatedSchema
from games.api.problems import AT_A_TABLE
from games.api.shared_schema import SharedOwnSchema
from games.chemin import play
from games.engine.chemin.rules import MOST_SEATS
from games.models import Shape
from games.shared import seats
from games.tables.access import demand_eligible
from players.api import schema
from players.api.reading import Strict, Whole, body_of
from players.api.schema import Linked, example
from players.protection import registers
from wallet.models import Mode

TAKEN: Final = PolymorphicProxySerializer(
    component_name="SeatTaken", serializers=[SharedOwnSchema, SeatedSchema], resource_type_field_name=None
)


@example(place=3)
class SeatBody(Strict):
    """Which seat to take."""

    place = Whole(
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
        responses={200: Linked(TAKEN, **LINKS)} | schema.refusals(*AT_A_TABLE, *STANDS_STILL),
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
            raise serializers.ValidationError({"place": _("This table has no seats to choose from.")})
        registers.ask_where_stale(player)  # outside the transaction

        def sit_down() -> None:
            if live.table.shape == Shape.CHEMIN:
                play.join(player=player, live_table_id=live.pk, session=session, seat_number=asked.get("place"))
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
