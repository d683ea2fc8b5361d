"""What staff take out of the event log for an auditor: all of it, a part of it, or one event with its proof.

The log knows nobody; whose data leaves with an event is put on record here, on the floor that knows players.
"""

from django import forms
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from audit import archiving
from audit.archiving import Archived
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
    """One event, byte for byte, with the proof that it is in the log; back to the events where there is none yet, and
    to the list of archives where the event has gone to one.
    """
    try:
        archive = export.export_event(event_id)
    except NotSealed:
        return redirect("staff_events")
    except Archived as gone:
        return _to_archives(request, gone)
    body = archiving.body_of(event_id)
    access_log.note_list(request, access_log.players_in(body.decode()), what="an event")
    response = HttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="event-{event_id}.zip"'
    return response


@staff_required("audit.view_event")
@require_safe
def staff_log_export(request: StaffRequest) -> HttpResponseBase:
    """The log, or a part of it, without personal values: all that is here where nothing is said. Back to its page where
    no signed tree has these leaves, or they have gone to an archive.
    """
    form = PartForm(request.GET)
    if not form.is_valid():
        return redirect("staff_log")
    try:
        chosen = export.part(form.cleaned_data["first"], form.cleaned_data["end"])
    except NotSealed:
        return redirect("staff_log")
    except Archived as gone:
        return _to_archives(request, gone)
    pieces = export.export(chosen, by=actor_of(request.user))
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="log-{chosen.first}-{chosen.end}.zip"'
    return response


def _to_archives(request: StaffRequest, gone: Archived) -> HttpResponse:
    words = str(gone)
    messages.error(request, words[:1].upper() + words[1:])
    return redirect(f"{reverse('staff_log')}#archives")
