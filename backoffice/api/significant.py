"""Significant events in the compliance API, read only. Staff handle them on their page."""

from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.models import Category, Significant, Weight, Work
from audit.significant import workflow
from backoffice.api.access_log import AccessLoggedView
from backoffice.api.events import LONGEST_NAME
from players.api.paging import Numbered, numbered, page
from players.api.reading import query_of
from players.api.schema import page_of
from players.models import Scope

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
        """Return the representation, with the weight as a name."""
        return super().to_representation(instance) | {"weight": Weight(instance.weight).name.lower()}


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
