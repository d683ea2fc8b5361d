"""What all calls at shared and guests' tables have: the table, who may stand there, what is told of it, and a service
that is done once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

from django.shortcuts import get_object_or_404
from django.utils.translation import get_language
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games.api import chemin_schema, shared_schema
from games.api.chemin_schema import GuestOwnSchema, GuestStateSchema
from games.api.problems import AT_A_TABLE, coded, refusals
from games.api.shapes import Json
from games.api.shared_schema import SharedOwnSchema, SharedStateSchema
from games.chemin import messages, play, snapshots
from games.engine.bets import Variant
from games.errors import GuestRefused
from games.models import CheminSeat, CheminTable, LiveTable, Shape
from games.raw_rows import fetch_named
from games.shared.state import READ_OWN, READ_PUBLIC, public_state
from games.tables.access import demand_playable, demand_unbarred
from games.variants import GAMES
from players.api import schema
from players.api.calls import once
from players.api.schema import Link, Linked
from players.api.views import PlayerApiView
from players.models import Scope
from wallet.models import Mode
from wallet.money import format_amount

HERE = {"slug": "$request.path.slug", "mode": "$request.path.mode"}


class SharedTableSchema(serializers.Serializer[Any]):
    """A shared table: what everybody sees, and what is the player's own."""

    state = SharedStateSchema()
    own = SharedOwnSchema(allow_null=True, help_text="null before the first bet or seat there")


class GuestTableSchema(serializers.Serializer[Any]):
    """A Chemin de Fer table: what everybody sees, and what is the player's own."""

    state = GuestStateSchema()
    own = GuestOwnSchema()


class SeatedSchema(serializers.Serializer[Any]):
    """How the player stands at a Chemin de Fer table after the call: read the table for more."""

    place = serializers.IntegerField(allow_null=True, help_text="null for whoever looks on")
    move = serializers.IntegerField(help_text="counts what was done at the table")
    question = serializers.IntegerField(help_text="counts what was asked there")


STATE = PolymorphicProxySerializer(
    component_name="LiveTable", serializers=[SharedTableSchema, GuestTableSchema], resource_type_field_name=None
)
STATE_LINKS = {
    "bet": Link(
        "bet",
        HERE,
        {"round_id": "$response.body#/state/round/id", "table_version": "$response.body#/state/table_version"},
    ),
    "bet_change": Link("bet_change", HERE, {"round_id": "$response.body#/state/round/id"}),
    "decision": Link("decision", HERE, {"question": "$response.body#/state/question"}),
    "seat": Link("seat_take", HERE),
}


class AtLiveTable(PlayerApiView):
    """A view for a table of these *shapes* and one kind of money."""

    shapes: ClassVar[tuple[Shape, ...]] = (Shape.SHARED, Shape.GUESTS)
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.PLAY, "DELETE": Scope.PLAY}

    def live_table(self, slug: str, mode: Mode) -> LiveTable:
        """Return the table. Raises Http404."""
        tables = LiveTable.objects.select_related("table__version")
        return get_object_or_404(tables, table__slug=slug, mode=mode, table__shape__in=self.shapes)

    def demand_welcome(self, live: LiveTable) -> None:
        """Raises PlayError where the player may not stand there, as its page does."""
        demand_playable(live.table, self.player, Mode(live.mode))
        demand_unbarred(self.player, Mode(live.mode), self.session())

    def told(self, live: LiveTable) -> Json:
        """Return the table as it stands."""
        if live.table.shape == Shape.GUESTS:
            seen = snapshots.read_public(live.pk)
            mine = chemin_schema.own(seen, snapshots.read_own(live.pk, self.player.pk))
            return {"state": chemin_schema.public(seen), "own": mine}
        row = fetch_named(READ_PUBLIC, [live.pk])
        assert row is not None  # noqa: S101  (the table is there, and no table is ever gone)
        state = public_state(row)
        own = fetch_named(READ_OWN, [live.pk, [self.player.pk]])
        return {"state": shared_schema.public(state), "own": own and shared_schema.own(state, own)}

    def do(self, live: LiveTable, service: Callable[[], object]) -> Response:
        """Answer with the player's own as it is after the service, which is done once; what the table refuses is an
        answer as well.

        The answer is kept with the call, and rows are read by others than the player: among guests it has no card in
        it, nor what may be decided by one. Whoever wants to know reads the table.
        """

        def act() -> Response:
            with refusals_at(live):
                demand_playable(live.table, self.player, Mode(live.mode))
                service()
                return Response(self.done(live))

        return once(self.request, act)

    def stand(self, live: LiveTable, verb: Callable[..., None]) -> Response:
        """Answer with how a guest stands there after a verb of `games.chemin.play` that takes nothing else."""
        player, _ = self.player, self.session()  # it is an action, in whichever session
        return self.do(live, lambda: verb(player=player, live_table_id=live.pk))

    def done(self, live: LiveTable) -> Json:
        """Return what a call is answered with that changed something."""
        if live.table.shape != Shape.GUESTS:
            own: Json = self.told(live)["own"]
            return own
        chemin = CheminTable.objects.get(pk=live.pk)
        guest = CheminSeat.objects.filter(live_table=live, player=self.player, left_at=None).first()
        return {"place": guest and guest.number, "move": chemin.move, "question": chemin.question}


class TableState(AtLiveTable):
    """A shared or guests' table as it stands."""

    @extend_schema(
        operation_id="table_state", responses={200: Linked(STATE, **STATE_LINKS)} | schema.refusals(*AT_A_TABLE)
    )
    def get(self, request: Request, slug: str, mode: Mode) -> Response:
        """Read a table as everybody sees it at this moment, and what is your own there."""
        live = self.live_table(slug, mode)
        with refusals_at(live):
            self.demand_welcome(live)
            return Response(self.told(live))


@contextmanager
def refusals_at(live: LiveTable) -> Iterator[None]:
    """Have what the table refuses inside be a Problem, said as its page says it. Raises Problem.

    What the croupier refuses has a *reason*. One that tells what a hand counts which lies face down is kept in no row.
    """
    game = GAMES[live.table.variant]
    with refusals(game if isinstance(game, Variant) else None, Mode(live.mode)):
        try:
            yield
        except GuestRefused as error:
            rules = snapshots.read_public(live.pk).rules

            money = partial(format_amount, currency=rules.currency, language=get_language() or "en")
            sentence = messages.refused(error.reason, rules, money)
            is_kept = error.reason not in play.TELLING
            raise coded(error, sentence, is_kept=is_kept, reason=error.reason.value) from error
