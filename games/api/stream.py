"""Opens the event stream of a table for an API client, after the access checks of every call.

The stream itself is sent by the stream server (`realtime.asgi`), which uses neither a thread nor a
database connection for it. It passes a counter to the view. If the view puts a ticket into the
counter, the server answers with the stream.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, Final, cast

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from games.api.chemin_schema import CheminOverSchema, CheminOwnSchema, CheminStateSchema
from games.api.live_table_access import AtLiveTable, refusals_at
from games.api.problems import AT_A_TABLE
from games.api.shapes import NUMBER, read_number
from games.api.shared_schema import SharedOverSchema, SharedOwnSchema, SharedStateSchema
from games.models import LiveTable, Shape
from games.shared.pages.stream_tokens import ApiClientTicket, RoundCursor
from players.api import schema
from players.api.problems import INVALID, FieldError, Problem, register
from players.api.reading import Strict, query_of
from players.api.schema import Streamed
from players.models import ApiToken, Scope
from wallet.models import Mode

COUNTER: Final = "sabot.counter"  # key of an ASGI scope
HEADER: Final = "Last-Event-ID"
MEDIA_TYPE: Final = "text/event-stream"
FULL: Final = register(
    "streams-full",
    HTTPStatus.SERVICE_UNAVAILABLE,
    _("The maximum number of streams, yours or overall, has been reached"),
)
OPENING: Final = re.compile(r"/api/v1/tables/[^/]+/[^/]+/stream/")
EVENTS: Final = """Server-sent events, each with a line of JSON but the last four. Their contents are in the
schemas: `StreamState`, `StreamOwn`, `StreamRound`, `StreamNoticeSchema`.

- `state`: the table as everybody sees it, as `state` of `table_state`: at once, and whenever it has changed.
- `own`: what is your own there, as `own` of `table_state`, whenever a round begins, closes or is paid, and at
  Chemin de Fer with every move.
- `round`: a round that is over, before the state that follows it.
- `notice`: what the house says to everybody.
- `missed`: more than 100 rounds were over while you were away, and none of them is sent. Those that you played are in
  your history.
- `beat`: both ends are there.
- `moved`: the process that tells you ends, and with it the stream; come back at once, and another one goes on.
- `over`: the token was revoked, the session of your API clients has ended, or you may not play any
  more; the stream ends.

`round` and `state` are numbered by the last round that is over. Come back with the last number in `Last-Event-ID`, and
you get every round that was over since, in order and once, and then the table as it is. The number of a round that
is not over yet counts as that of the last one before it."""


class HouseNoticeSchema(serializers.Serializer[Any]):
    """A notice of the house that is shown now."""

    id = serializers.IntegerField()
    begins_at = serializers.DateTimeField(help_text="from when on the house is closed for maintenance")
    ends_at = serializers.DateTimeField()
    text = serializers.CharField(help_text="in the language asked for")


class StreamNoticeSchema(serializers.Serializer[Any]):
    """Notices to all players."""

    is_stopped = serializers.BooleanField(help_text="whether play is stopped in the whole house")
    notices = HouseNoticeSchema(many=True)


def _either(name: str, shared: Any, chemin: Any) -> PolymorphicProxySerializer:
    return PolymorphicProxySerializer(name, [shared, chemin], resource_type_field_name=None)


EVENTS_OF_STREAM: Final = {
    "state": _either("StreamState", SharedStateSchema, CheminStateSchema),
    "own": _either("StreamOwn", SharedOwnSchema, CheminOwnSchema),
    "round": _either("StreamRound", SharedOverSchema, CheminOverSchema),
    "notice": StreamNoticeSchema,
}


@dataclass
class Counter:
    """Holds the ticket that the view issues to an admitted API client."""

    ticket: ApiClientTicket | None = None


def is_opening(path: str) -> bool:
    """Return True if this path opens a stream."""
    return OPENING.fullmatch(path) is not None


class Stream(AtLiveTable):
    """The stream of a table."""

    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="table_stream",
        description=EVENTS,
        parameters=[
            OpenApiParameter(
                HEADER,
                {"type": "string", "pattern": f"^{NUMBER.pattern}$"},
                OpenApiParameter.HEADER,
                description="the number of the last event that you have seen",
            )
        ],
        responses={(200, MEDIA_TYPE): Streamed("the events, as long as both ends listen", **EVENTS_OF_STREAM)}
        | schema.refusals(*AT_A_TABLE, FULL),
    )
    def get(self, request: Request, slug: str, mode: Mode) -> HttpResponse:
        """Open the event stream of a table."""
        query_of(request, Strict)
        live = self.live_table(slug, mode)
        with refusals_at(live):
            self.demand_welcome(live)
        ticket = self._ticket(live, _last_seen(request, live))
        counter = request.META.get("asgi.scope", {}).get(COUNTER)
        if counter is not None and request.method == "GET":
            counter.ticket = ticket
        # Without the stream server there are no events, and the client reconnects.
        return HttpResponse("retry: 3000\n\n", content_type=f"{MEDIA_TYPE}; charset=utf-8")

    def _ticket(self, live: LiveTable, after: RoundCursor | None) -> ApiClientTicket:
        return ApiClientTicket(
            self.player.pk,
            live.pk,
            self.session(),
            self.language(),
            shape=Shape(live.table.shape),
            jurisdiction=self.player.jurisdiction_id,
            token=cast("ApiToken", self.request.auth).pk,
            after=after,
        )


def _last_seen(request: Request, live: LiveTable) -> RoundCursor | None:
    """Return the last round that the client knows; None for a new client. Raises Problem."""
    number = request.headers.get(HEADER)
    if number is None:
        return None
    try:
        return read_number(live, number)
    except ValueError as error:
        wrong = FieldError(f"/{HEADER}", "invalid", str(_("This table has no event with this number.")))
        raise Problem(INVALID, errors=[wrong]) from error
