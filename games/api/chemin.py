"""API of Chemin de Fer tables: decisions, and stepping away. Uses the same services as the page."""

from typing import Any, ClassVar, Final

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games.api.chemin_schema import ACTIONS, CALLS
from games.api.live_table_access import HERE, AtLiveTable, SeatedSchema
from games.api.problems import AT_A_TABLE
from games.chemin import play
from games.chemin.options import NAMES
from games.engine.chemin import Call
from games.engine.chemin.actions import MakeCall
from games.models import Shape
from players.api import schema
from players.api.reading import MinorUnits, Strict, Whole, body_of
from players.api.schema import Link, Linked, example
from players.protection import registers
from wallet.models import Mode

LARGEST_QUESTION: Final = 2**63 - 1
STANDS_STILL: Final = ("house-stopped", "table-paused", "table-stopped", "croupier-refuses")
REFUSED: Final = (
    *AT_A_TABLE,
    *STANDS_STILL,
    "question-passed",
    "table-waits",
    "balance-too-low",
    "limit-reached",
    "stale",
)
LINKS: Final = {"state": Link("table_state", HERE)}
SEATED: Final = {200: Linked(SeatedSchema, **LINKS)}


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

    @extend_schema(operation_id="decision", request=DecisionBody, responses=SEATED | schema.refusals(*REFUSED))
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
