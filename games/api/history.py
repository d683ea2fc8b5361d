"""API of a player's rounds: finished rounds, rounds in progress, and one round by its id."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import Http404
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from games import history
from games.api import shapes
from games.history.search import Ending, Search
from games.models import Participation
from players.api.paging import Numbered, page, written
from players.api.reading import Day, query_of
from players.api.schema import Link, Linked, page_of
from players.api.views import PlayerApiView
from players.models import Scope
from wallet.models import Mode


class RoundsQuery(Numbered):
    """Search criteria. A parameter that is left out does not filter."""

    mode = serializers.ChoiceField(choices=shapes.MODES, default="real")
    since = Day(required=False, help_text="from this day on, by UTC")
    until = Day(required=False, help_text="to this day, included, by UTC")
    table = serializers.SlugField(required=False, help_text="slug of a table")
    ending = serializers.ChoiceField(required=False, choices=[each.value for each in Ending])

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject a period that ends before it begins."""
        since, until = attrs.get("since"), attrs.get("until")
        if since and until and since > until:
            raise serializers.ValidationError({"until": [_("The start date is after the end date.")]})
        return attrs


class RoundsPlayed(PlayerApiView):
    """Finished rounds."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="rounds",
        parameters=[RoundsQuery],
        responses={
            200: Linked(
                page_of(shapes.OwnRoundSchema),
                round=Link("round", {"round_id": "$response.body#/items/0/id"}),
                following=Link("rounds", {"cursor": "$response.body#/next"}),
            )
        },
    )
    def get(self, request: Request) -> Response:
        """List your finished rounds of one kind of money, newest first.

        New rounds do not shift the pages.
        """
        asked = query_of(request, RoundsQuery)
        before = asked.get("cursor")
        if before and not Participation.objects.filter(pk=before, player=self.player).exists():
            raise serializers.ValidationError(
                {"?cursor": [_("This cursor does not belong to this list.")]}, code="cursor"
            )
        search = Search(
            since=asked.get("since"),
            until=asked.get("until"),
            table=asked.get("table"),
            ending=Ending(asked["ending"]) if "ending" in asked else None,
            zone=get_current_timezone(),
            mode=Mode[asked["mode"].upper()],
        )
        found = history.history(
            self.player, before=before, language=self.language(), search=search, limit=asked["limit"]
        )
        following = None if found.older is None else written(found.older)
        return Response(page([shapes.finished(line) for line in found.rounds], following))


class RoundsPlaying(PlayerApiView):
    """Rounds in progress."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="rounds_playing", responses=page_of(shapes.OwnRoundSchema))
    def get(self, request: Request) -> Response:
        """List the rounds in progress at live tables in which you have bets, oldest first."""
        found = history.playing(self.player, self.language(), modes=tuple(Mode))
        return Response(page([shapes.playing(line) for line in found], None))


class OneRound(PlayerApiView):
    """One round."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="round", responses=shapes.OwnRoundSchema)
    def get(self, request: Request, round_id: UUID) -> Response:
        """Read one of your rounds in full.

        Once the seed is public, anyone can verify the round against the commitment that was
        published before the first bet. It is the SHA-256 of seven lines in UTF-8, each ended by a line
        feed: "sabot commitment v2", "purpose=…", "id=…", "table=…", "decks=…", "rules=…" and "seed=…".
        At a solo table the purpose is "solo", and the others are `id`, `table_id`, `decks`,
        `rules_digest` and `seed`. Of a shoe they are `shoe.purpose`, `shoe.id`, `table_id`, `decks`,
        `shoe.rules_digest` and `seed`. The cards follow from the seed: HKDF-SHA256 with the seed as key
        material, `player_value` (of a shoe `shoe.entropy`) in UTF-8 as salt and "sabot shuffle v1,
        decks=N" as info gives bytes, which are read as big-endian 16-bit numbers. The unshuffled
        decks are in the order clubs, diamonds, hearts, spades, each from ace to king, deck by deck.
        From the last card down to the second, the card at position p is swapped with the card at
        position number mod (p + 1). Numbers from the largest multiple of p + 1 below 65536 upwards
        are skipped. A shoe is dealt from `shoe.card` on.

        While a shoe is in play, each card in `shoe.cards` can be verified against `shoe.cards_root`. Its leaf
        is the SHA-256 of a zero byte and four lines: "sabot card v1", "place=…", "card=…", "salt=…". With
        the hashes of `path` it leads to the root as in RFC 6962, 2.1.
        """
        line = history.round_of(self.player, round_id, self.language())
        if line is not None:
            return Response(shapes.finished(line))
        going = history.playing(self.player, self.language(), round_id=round_id)
        if not going:
            raise Http404
        return Response(shapes.playing(going[0]))
