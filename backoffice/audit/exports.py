"""Page and exports of the event log: filtered and newest first, whole, in part, or one event.

The page shows personal values as hashes. The log itself knows no players, so accesses to their data
are recorded here.
"""

import json
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from audit.event_search import about
from audit.models import Event
from audit.tree import NotSealed, sealed
from audit.verification import export
from backoffice.lists.paging import NEWEST_FIRST
from backoffice.rounds import id_for_code
from players.access import StaffRequest, staff_required
from players.login.current_user import actor_of
from players.staff import access_log

PAGE = 50

# DISTINCT reads every entry of the index. This query jumps from one kind to the next.
KINDS = """
WITH RECURSIVE found(kind) AS (
    SELECT min(kind) FROM audit_event
    UNION ALL
    SELECT (SELECT min(event.kind) FROM audit_event AS event WHERE event.kind > found.kind)
    FROM found WHERE found.kind IS NOT NULL
)
SELECT kind FROM found WHERE kind IS NOT NULL ORDER BY kind
"""


class EventFilter(forms.Form):
    """Filter of events. Each field is an exact match; an empty field matches all."""

    kind = forms.ChoiceField(
        required=False,
        choices=lambda: [("", "all"), *((kind, kind) for kind in kinds())],
        error_messages={"invalid_choice": "Unknown kind of event."},
    )
    by = forms.CharField(required=False, strip=True, widget=forms.TextInput(attrs={"placeholder": "staff:1"}))
    on = forms.CharField(
        required=False, strip=True, widget=forms.TextInput(attrs={"placeholder": "table:1 or a round"})
    )


@dataclass(frozen=True)
class EventRow:
    """An event as a line of the page. ``body`` is its canonical JSON, indented."""

    id: int
    at: datetime
    kind: str
    by: str
    on: str
    body: str
    sealed: bool  # covered by a signed checkpoint, so it can be proven


@require_safe
def events(request: HttpRequest) -> TemplateResponse:
    """Show a page of the event log. The calling view checks permissions."""
    form = EventFilter(request.GET)
    form.full_clean()
    asked = form.cleaned_data
    wanted = {field: asked[field] for field in ("kind", "by", "on") if asked.get(field)}
    found = Event.objects.filter(about(**wanted))
    if any(field.errors for field in form.visible_fields()):
        found = found.none()
    page = NEWEST_FIRST.page(found, request.GET, PAGE)
    proven = sealed(event.pk for event in page.rows)
    rows = [_row(event, sealed=event.pk in proven) for event in page.rows]
    return TemplateResponse(request, "audit/events.html", {"form": form, "events": rows, "page": page})


def kinds() -> list[str]:
    """Return all kinds of events in the log.

    The query takes one index step for each kind, whatever the number of events.
    """
    with connection.cursor() as cursor:
        cursor.execute(KINDS)
        return [kind for (kind,) in cursor.fetchall()]


def _row(event: Event, *, sealed: bool) -> EventRow:
    body = json.dumps(json.loads(bytes(event.body)), indent=2, ensure_ascii=False)
    return EventRow(event.pk, event.at, event.kind, event.by, event.on, body, sealed)


class PartForm(forms.Form):
    """Range of leaves. *end* is excluded. Without values, the form asks for all leaves."""

    first = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    end = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


@staff_required("audit.view_event")
@access_log.listed("events")
@require_safe
@id_for_code("on", "round:")
def staff_events(request: StaffRequest) -> HttpResponse:
    """Show a page of the event log, and declare the players in it to the access log."""
    answer = events(request)
    access_log.shown(request, (answer.context_data or {})["events"])
    return answer.render()


@staff_required("audit.view_event")
@require_safe
def staff_event_proof(request: StaffRequest, event_id: int) -> HttpResponse:
    """Download one event, byte for byte, with its proof.

    Redirect to the events if no proof exists yet.
    """
    try:
        archive = export.export_event(event_id)
    except NotSealed:
        return redirect("staff_events")
    body = bytes(Event.objects.get(pk=event_id).body)
    access_log.note_list(request, access_log.players_in(body.decode()), what="an event")
    response = HttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="event-{event_id}.zip"'
    return response


@staff_required("audit.view_event")
@require_safe
def staff_log_export(request: StaffRequest) -> HttpResponseBase:
    """Download the log or a part of it, without personal values.

    Without a range it is the whole log. Redirects to the log's page if no signed tree has these
    leaves.
    """
    form = PartForm(request.GET)
    if not form.is_valid():
        return redirect("staff_log")
    try:
        chosen = export.part(form.cleaned_data["first"] or 0, form.cleaned_data["end"])
    except NotSealed:
        return redirect("staff_log")
    pieces = export.export(chosen, by=actor_of(request.user))
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="log-{chosen.first}-{chosen.end}.zip"'
    return response
