"""Base of all API calls at live tables: finds the table, checks access, and runs a service once."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.raw_rows import fetch_named
from games.api import chemin_schema, shared_schema
from games.api.chemin_schema import CheminOwnSchema, CheminStateSchema
from games.api.problems import AT_A_TABLE, refusals
from games.api.shapes import Json
from games.api.shared_schema import SharedOwnSchema, SharedStateSchema
from games.chemin.state import snapshots
from games.engine.bets import Variant
from games.models import LiveTable, Shape
from games.shared import phases
from games.shared.state import READ_OWN
from games.tables.access import demand_eligible, demand_playable
from games.variants import GAMES
from players.api import schema
from players.api.calls import once
from players.api.schema import Link, Linked
from players.api.views import PlayerApiView
from players.models import Scope
from wallet.models import Mode

HERE = {"slug": "$request.path.slug", "mode": "$request.path.mode"}


class SharedTableSchema(serializers.Serializer[Any]):
    """A shared table: what everyone sees, and the player's own data."""

    state = SharedStateSchema()
    own = SharedOwnSchema(allow_null=True, help_text="null before the first bet or seat there")


class CheminTableSchema(serializers.Serializer[Any]):
    """A Chemin de Fer table: what everyone sees, and the player's own data."""

    state = CheminStateSchema()
    own = CheminOwnSchema()


STATE = PolymorphicProxySerializer(
    component_name="LiveTable", serializers=[SharedTableSchema, CheminTableSchema], resource_type_field_name=None
)
STATE_LINKS = {
    "bet": Link(
        "bet",
        HERE,
        {"round_id": "$response.body#/state/round/id", "table_version": "$response.body#/state/table_version"},
    ),
    "bet_change": Link("bet_change", HERE, {"round_id": "$response.body#/state/round/id"}),
    "seat": Link("seat_take", HERE),
    "cut": Link("cut_bind", HERE, {"shoe": "$response.body#/state/cut/shoe"}),
}


class AtLiveTable(PlayerApiView):
    """A view for a table of these *shapes* and one kind of money."""

    shapes: ClassVar[tuple[Shape, ...]] = (Shape.SHARED, Shape.CHEMIN)
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.PLAY}

    def live_table(self, slug: str, mode: Mode) -> LiveTable:
        """Return the table. Raises Http404."""
        tables = LiveTable.objects.select_related("table__version")
        return get_object_or_404(tables, table__slug=slug, mode=mode, table__shape__in=self.shapes)

    def demand_welcome(self, live: LiveTable) -> None:
        """Check that the player may be at the table, as its page does. Raises PlayError."""
        demand_playable(live.table, self.player, Mode(live.mode))
        demand_eligible(self.player, Mode(live.mode), self.session())

    def table_data(self, live: LiveTable) -> Json:
        """Return the current state of the table."""
        if live.table.shape == Shape.CHEMIN:
            seen = snapshots.read_public(live.pk)
            mine = chemin_schema.own(seen, snapshots.read_own(live.pk, self.player.pk))
            return {"state": chemin_schema.public(seen), "own": mine}
        state = phases.read_awake(live.pk)
        own = fetch_named(READ_OWN, [live.pk, [self.player.pk]])
        return {"state": shared_schema.public(state), "own": own and shared_schema.own(state, own)}

    def do(self, live: LiveTable, service: Callable[[], object]) -> Response:
        """Run the service once and answer with the player's own data, or with the table's refusal."""

        def act() -> Response:
            with refusals_at(live):
                demand_playable(live.table, self.player, Mode(live.mode))
                service()
                return Response(self.done(live))

        return once(self.request, act)

    def done(self, live: LiveTable) -> Json:
        """Return the answer to a call that changed something."""
        own: Json = self.table_data(live)["own"]
        return own


class TableState(AtLiveTable):
    """The state of a live table."""

    @extend_schema(
        operation_id="table_state", responses={200: Linked(STATE, **STATE_LINKS)} | schema.refusals(*AT_A_TABLE)
    )
    def get(self, request: Request, slug: str, mode: Mode) -> Response:
        """Read the current state of a table as everyone sees it, and your own data there."""
        live = self.live_table(slug, mode)
        with refusals_at(live):
            self.demand_welcome(live)
            return Response(self.table_data(live))


def refusals_at(live: LiveTable) -> AbstractContextManager[None]:
    """Turn a refusal of the table into a Problem with the sentence of the page. Raises Problem."""
    game = GAMES[live.table.variant]
    return refusals(game if isinstance(game, Variant) else None, Mode(live.mode))
