"""What staff take out of the event log for an auditor: all of it, a part of it, or one event with its proof.

The log knows nobody; whose data leaves with an event is put on record here, on the floor that knows players.
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
    """Which leaves: from the first one up to one that is left out; all where nothing is given."""

    first = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    end = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


@staff_required("audit.view_event")
@access_log.listed("events")
@require_safe
@id_for_code("on", "round:")
def staff_events(request: StaffRequest) -> HttpResponse:
    """A page of the event log. It declares the players that its events name, for the access log."""
    answer = events(request)
    access_log.shown(request, (answer.context_data or {})["events"])
    return answer.render()


@staff_required("audit.view_event")
@require_safe
def staff_event_proof(request: StaffRequest, event_id: int) -> HttpResponse:
    """One event, byte for byte, with the proof that it is in the log; back to the events where there is none yet."""
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
    """The log, or a part of it, without personal values: the whole log where nothing is said. Back to its page where no
    signed tree has these leaves.
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
