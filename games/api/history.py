"""API of a player's rounds: finished rounds, rounds in progress, and one round by its id."""

from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.tree import NotSealed
from audit.verification.verify import Unproven
from games import history
from games.api import shapes
from games.api.problems import coded
from games.errors import DealerAway
from games.history.search import Ending, Search
from games.models import Participation
from games.rounds import receipts
from players.api.problems import NOT_SEALED, Problem
from players.api.reading import Day, Numbered, page, query_of, written
from players.api.schema import Link, Linked, page_of, refusals
from players.api.views import PlayerApiView
from players.models import Scope
from wallet.models import Mode

PROOF: Final = "text/plain; charset=utf-8"


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


class SealedBetsSchema(serializers.Serializer[Any]):
    """Position of your bets under the root of all bets on the round. The root is in the public log."""

    leaf = serializers.IntegerField(help_text="of the event `bets.sealed` in the public log")
    entry = serializers.CharField(
        help_text="of that event in the public log; its data has `root` and the number of `bets`"
    )
    place = serializers.IntegerField(help_text="of your bets, counted from 0")
    path = serializers.ListField(child=serializers.CharField(), help_text="from your bets to the root, in hex")


class ReceiptSchema(serializers.Serializer[Any]):
    """A receipt."""

    round = serializers.UUIDField()
    receipt = serializers.CharField(help_text="signed note (C2SP signed-note)")
    dealer = serializers.CharField(help_text="public key of the signature (Ed25519), in hex")
    leaf = serializers.IntegerField(
        allow_null=True, help_text="of the round in the public log; null before it is sealed"
    )
    sealed = SealedBetsSchema(allow_null=True, help_text="at shared tables, once bets are closed")


class RoundReceipt(PlayerApiView):
    """The receipt of one round."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="round_receipt", responses={200: ReceiptSchema, **refusals("dealer-away")})
    def get(self, request: Request, round_id: UUID) -> Response:
        """Read the receipt of one of your rounds, or of your bets on a round in progress at a shared table.

        The dealer signs it, and the house promises that the public log has it `within` so many seconds:
        the entry `{"hash":"…"}` with `entry` of the receipt, or your bets under the root of `bets.sealed`.
        Ask for it after each bet, before the table closes, and keep it: `examples/check_receipt.py`
        compares it with a copy of the log.
        """
        try:
            found = receipts.receipt(self.player.pk, round_id)
        except DealerAway as error:
            raise coded(error, "", is_kept=False) from error
        if found is None:
            raise Http404
        sealed = receipts.sealed_bets(self.player.pk, round_id)
        return Response({**found.as_json, "sealed": sealed.as_json if sealed else None})


class RoundLogProof(PlayerApiView):
    """The proof that one round is in the public log."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="round_log_proof",
        responses={
            (200, PROOF): OpenApiResponse(OpenApiTypes.STR, "C2SP tlog-proof"),
            **refusals(NOT_SEALED, "dealer-away"),
        },
    )
    def get(self, request: Request, round_id: UUID) -> HttpResponse:
        """Prove that one of your rounds is in the public log (C2SP tlog-proof).

        The extra data is the receipt. The entry of the log is `{"hash":"…"}` with `entry` of the receipt.
        """
        try:
            return HttpResponse(receipts.proof(self.player.pk, round_id), content_type=PROOF)
        except DealerAway as error:
            raise coded(error, "", is_kept=False) from error
        except (NotSealed, Unproven) as error:
            raise Problem(NOT_SEALED) from error
