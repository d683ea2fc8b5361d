"""Exports of the event log for an auditor: the whole log, a part, or one event with its proof.

The log itself knows no players, so the accesses to their data are recorded here.
"""

from django import forms
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from audit.models import Event
from audit.tree.proofs import NotSealed
from audit.verification import export
from backoffice.audit.events import events
from backoffice.rounds.views import id_for_code
from players.access import StaffRequest, staff_required
from players.login.current_user import actor_of
from players.staff import access_log


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
