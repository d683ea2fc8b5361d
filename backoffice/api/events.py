"""Compliance API for the event log and significant events. Each use is recorded in the access log.

Events are returned byte for byte. Events hold salted hashes instead of personal values, as on the
page of events.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import event_search
from audit.models import Category, Event, Leaf, Significant, Weight, Work
from audit.sealing import checkpoints
from audit.significant import workflow
from audit.staff_text import english
from audit.tree import NotSealed, proof_of
from audit.verification.verify import Unproven, entry_of, leaf_hash
from players.api.problems import NOT_FOUND, NOT_SEALED, Problem
from players.api.reading import Moment, Numbered, numbered, page, query_of
from players.api.schema import Link, Linked, page_of, refusals
from players.api.views import StaffApiView
from players.models import Scope
from players.staff import access_log

SEE_LOG: Final = "audit.view_event"


class AccessLoggedView(StaffApiView):
    """View whose answer may show players.

    The view declares the players with `show`, and the answer is recorded in the access log. *what*
    names the data that was shown. A view that sends a file records its own access.
    """

    what: ClassVar[str]

    def show(self, *subjects: object) -> None:
        """Declare the players that the answer shows.

        Takes what `players.staff.access_log.shown` takes.
        """
        access_log.shown(self.request, *subjects)

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> Response:
        """Render the answer and record the access.

        An answer whose access cannot be recorded is not sent.
        """
        answer = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(answer, Response) and not answer.exception:
            answer.render()
            access_log.note_list(request, access_log.declared(request), what=self.what)
        return answer


PROOF: Final = "text/plain; charset=utf-8"
LONGEST_NAME: Final = 200  # characters of an event's kind, actor or subject
END: Final = 2**63 - 1
FIRST: Final = {"event_id": "$response.body#/items/0/id"}


class EventsAsked(Numbered):
    """Query for events. Each condition narrows the list."""

    kind = serializers.CharField(required=False, max_length=LONGEST_NAME, help_text="a kind, exactly: round.settled")
    by = serializers.CharField(required=False, max_length=LONGEST_NAME, help_text="exact actor: staff:3")
    on = serializers.CharField(
        required=False,
        max_length=LONGEST_NAME,
        help_text="exact subject: table:1; or a round id",
    )
    since = Moment(required=False, help_text="written then or later")
    until = Moment(required=False, help_text="written before")
    first_leaf = serializers.IntegerField(
        required=False, min_value=0, max_value=END, help_text="the first position in the log; goes with end_leaf"
    )
    end_leaf = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=END,
        help_text=f"the first position that is left out, at most {event_search.MOST_LEAVES} behind first_leaf",
    )
    order = serializers.ChoiceField(
        ("newest", "oldest"), required=False, default="newest", help_text="what comes first"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require that leaf numbers form a range, and that the range is not too long."""
        ends = [attrs.get(name) for name in ("first_leaf", "end_leaf")]
        if None in ends and any(end is not None for end in ends):
            raise self._wrong("first_leaf" if ends[0] is None else "end_leaf", "required")
        first, end = (each or 0 for each in ends)
        if end < first:
            raise self._wrong("end_leaf", "min_value", min_value=first)
        if end - first > event_search.MOST_LEAVES:
            raise self._wrong("end_leaf", "max_value", max_value=first + event_search.MOST_LEAVES)
        return attrs

    def _wrong(self, name: str, code: str, **values: int) -> serializers.ValidationError:
        message = self.fields[name].error_messages[code].format(**values)
        return serializers.ValidationError({name: [message]}, code=code)


class EventSchema(serializers.Serializer[Any]):
    """An event and its position in the log."""

    id = serializers.IntegerField(help_text="database id, not part of proofs")
    leaf = serializers.IntegerField(
        allow_null=True, help_text="its position in the log, from 0; null until a few seconds have passed"
    )
    is_signed = serializers.BooleanField(help_text="whether a signed checkpoint covers it, so that it can be proven")
    at = serializers.CharField(help_text="when it was written, by the database’s clock, UTC")
    kind = serializers.CharField()
    by = serializers.CharField(help_text="who did it: player:12, staff:3, system")
    on = serializers.CharField(help_text="what it was done to: round:…, table:1, player:12")
    data = serializers.JSONField(help_text="data of the event, by kind")  # type: ignore[assignment]
    personal = serializers.DictField(
        child=serializers.CharField(), help_text="personal values by their names: SHA-256 of salt and text, in hex"
    )


class EventWholeSchema(EventSchema):
    """An event with the canonical bytes that a proof covers."""

    body = serializers.CharField(help_text="its canonical JSON, byte for byte, in base64")
    salt = serializers.CharField(
        allow_null=True,
        help_text="16 bytes in hex; null where the entry of the log is the body itself. Otherwise the entry is"
        ' {"hash":"…"} with the hex SHA-256 of salt and body',
    )
    leaf_hash = serializers.CharField(help_text="hex SHA-256 of a zero byte and the entry: its leaf (RFC 6962)")


class Events(AccessLoggedView):
    """Events of the log."""

    scopes = {"GET": Scope.EVENTS}
    permissions = (SEE_LOG,)
    what = "events"

    @extend_schema(
        operation_id="events",
        parameters=[EventsAsked],
        responses={200: Linked(page_of(EventSchema), event=Link("event", FIRST), proof=Link("event_proof", FIRST))},
    )
    def get(self, request: Request) -> Response:
        """Search events."""
        asked = query_of(request, EventsAsked)
        rows = event_search.find(
            wanted(asked),
            after=asked.get("cursor"),
            oldest_first=asked["order"] == "oldest",
            limit=asked["limit"] + 1,
        )
        shown, following = numbered(rows, asked["limit"], lambda row: row.pk)
        items = list(describe_events(shown))
        self.show(items)
        return Response(page(items, following))


class OneEvent(AccessLoggedView):
    """One event."""

    scopes = {"GET": Scope.EVENTS}
    permissions = (SEE_LOG,)
    what = "an event"

    @extend_schema(
        operation_id="event",
        responses=Linked(EventWholeSchema, proof=Link("event_proof", {"event_id": "$response.body#/id"})),
    )
    def get(self, request: Request, event_id: int) -> Response:
        """Read one event, with the exact bytes that its proof covers."""
        event = found(event_id)
        (said,) = describe_events([event])
        body, salt = bytes(event.body), bytes(event.salt or b"")
        self.show(said)
        hashed = leaf_hash(entry_of(body, salt)).hex()
        proven = {"body": base64.b64encode(body).decode(), "salt": salt.hex() or None, "leaf_hash": hashed}
        return Response(said | proven)


class EventProof(StaffApiView):
    """Proof of one event. It contains only hashes."""

    scopes = {"GET": Scope.EVENTS}
    permissions = (SEE_LOG,)

    @extend_schema(
        operation_id="event_proof",
        responses={(200, PROOF): OpenApiResponse(OpenApiTypes.STR, "C2SP tlog-proof"), **refusals(NOT_SEALED)},
    )
    def get(self, request: Request, event_id: int) -> HttpResponse:
        """Prove that an event is in the log: its leaf, the hashes to the root, the checkpoint."""
        found(event_id)
        try:
            return HttpResponse(proof_of(event_id), content_type=PROOF)
        except (NotSealed, Unproven) as error:
            raise Problem(NOT_SEALED) from error


def wanted(asked: dict[str, Any]) -> event_search.Wanted:
    """Return the event search that a valid query asks for."""
    leaves = range(asked["first_leaf"], asked["end_leaf"]) if "first_leaf" in asked else None
    exact: dict[str, str] = {name: asked[name] for name in ("kind", "by", "on") if name in asked}
    return event_search.Wanted(exact, asked.get("since"), asked.get("until"), leaves)


def found(event_id: int) -> Event:
    """Return an event. Raises Problem if it does not exist."""
    event = Event.objects.filter(pk=event_id).first()
    if event is None:
        raise Problem(NOT_FOUND)
    return event


def describe_events(events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    """Yield events as the API sends them: canonical content, and place in the log."""
    events = list(events)
    leaves = dict(Leaf.objects.filter(event__in=[each.pk for each in events]).values_list("event", "leaf"))
    signed = checkpoints.size()
    for event in events:
        leaf, body = leaves.get(event.pk), json.loads(bytes(event.body))
        said = {name: body[name] for name in ("at", "kind", "by", "on", "data")}
        place = {"id": event.pk, "leaf": leaf, "is_signed": leaf is not None and leaf < signed}
        yield place | said | {"personal": body.get("personal", {})}


WEIGHTS: Final = {weight.name.lower(): weight for weight in Weight}


class SignificantAsked(Numbered):
    """Query for significant events."""

    state = serializers.ChoiceField(Work.values, required=False)
    category = serializers.ChoiceField(Category.values, required=False)
    weight = serializers.ChoiceField(tuple(WEIGHTS), required=False)
    about = serializers.CharField(
        required=False, default="", max_length=LONGEST_NAME, help_text="subject as in events: player:12"
    )


class SignificantSchema(serializers.Serializer[Any]):
    """A significant event that staff must review (GLI-19 v3.0, 2.8.8)."""

    id = serializers.IntegerField()
    category = serializers.ChoiceField(Category.values)
    weight = serializers.ChoiceField(tuple(WEIGHTS))
    event = serializers.IntegerField(source="event_id", allow_null=True, help_text="what it follows from, if one event")
    on = serializers.CharField(help_text="subject")
    currency = serializers.CharField(allow_blank=True)
    amount = serializers.IntegerField(allow_null=True, help_text="minor units")
    title = serializers.CharField()
    because = serializers.CharField(allow_blank=True)
    rows = serializers.JSONField(help_text="what it follows from, row by row")
    happened_at = serializers.DateTimeField()
    at = serializers.DateTimeField(help_text="when it was found")
    state = serializers.ChoiceField(Work.values)
    assigned_to = serializers.CharField(allow_blank=True, help_text="staff:3; empty for nobody")

    def to_representation(self, instance: Significant) -> dict[str, Any]:
        """Return the representation, with the weight as a name and the sentence in English."""
        named = {"weight": Weight(instance.weight).name.lower(), "because": english(instance.because)}
        return super().to_representation(instance) | named


class SignificantEvents(AccessLoggedView):
    """Significant events."""

    scopes = {"GET": Scope.EVENTS}
    permissions = (workflow.PERMISSION,)
    what = "significant events"

    @extend_schema(
        operation_id="significant_events", parameters=[SignificantAsked], responses=page_of(SignificantSchema)
    )
    def get(self, request: Request) -> Response:
        """List significant events, newest first."""
        asked = query_of(request, SignificantAsked)
        found = workflow.matching(
            states=(Work(asked["state"]),) if "state" in asked else tuple(Work),
            category=Category(asked["category"]) if "category" in asked else None,
            weight=WEIGHTS[asked["weight"]] if "weight" in asked else None,
            about=asked["about"],
        )
        if "cursor" in asked:
            found = found.filter(pk__lt=asked["cursor"])
        shown, following = numbered(list(found[: asked["limit"] + 1]), asked["limit"], lambda row: row.pk)
        self.show(shown)
        return Response(page(list(SignificantSchema(shown, many=True).data), following))
