"""Pages of incidents: the list, and one page each with timeline, notes, letters and export for the regulator."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit import log
from audit.models import Approval
from backoffice.incidents.export import export
from backoffice.incidents.timeline import timeline
from games import incidents
from games.incidents import Case
from games.incidents.letters import delivery as letters
from games.incidents.participants import concerned
from games.models import Incident, IncidentKind, IncidentNote, Phase, Table
from games.shared import evidence
from games.shared.malfunction import KIND, PERMISSION, stated
from players.access import StaffRequest, staff_required
from players.staff import access_log


@transaction.atomic
def note(*, incident: Incident, text: str, by: str) -> IncidentNote:
    """Add a note. The text is stored with the incident and not in the log.

    Raises MalfunctionError if the text is empty.
    """
    kept = IncidentNote.objects.create(incident=incident, text=stated(text), by=by)
    log.record(
        "incident.noted", by=by, on=f"table:{incident.table_id}", data={"incident": incident.pk, "note": kept.pk}
    )
    return kept


READ: Final = "games.view_incident"
EXPORT: Final = "audit.export_rows"


def _tables() -> list[tuple[object, str]]:
    return [("", "Any table"), *Table.objects.order_by("name").values_list("pk", "name")]


class ListForm(forms.Form):
    """Filter of the list. ``before`` is the number of the last incident on the previous page."""

    state = forms.ChoiceField(required=False, choices=[("", "All"), ("awaiting", "Awaiting a ruling")])
    table = forms.TypedChoiceField(required=False, coerce=int, empty_value=None, choices=_tables)
    kind = forms.ChoiceField(required=False, choices=[("", "Any kind"), *IncidentKind.choices])
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class NoteForm(forms.Form):
    """Note of staff."""

    text = forms.CharField(max_length=1000)


@staff_required(READ)
@access_log.listed("incidents")
@require_safe
def staff_incidents(request: StaffRequest) -> HttpResponse:
    """List incidents: those that await a ruling, then the rest, newest first."""
    form = ListForm(request.GET)
    form.full_clean()
    asked = form.cleaned_data
    page = incidents.incidents(
        before=asked.get("before"),
        awaiting=asked.get("state") == "awaiting",
        table_id=asked.get("table"),
        kind=asked.get("kind", ""),
    )
    query = urlencode({name: asked[name] for name in ("state", "table", "kind") if asked.get(name)})
    without_state = urlencode({name: asked[name] for name in ("table", "kind") if asked.get(name)})
    context = {"form": form, "page": page, "query": query, "without_state": without_state}
    return render(request, "staff/incidents.html", context)


@staff_required(READ)
@access_log.listed("an incident")
@require_safe
def staff_incident(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Show everything about one incident."""
    case = case_or_404(incident_id)
    requests = approvals_of(case)
    told = {
        "requests": requests,
        "people": concerned(case.round_id, case.parts),
        "timeline": timeline(case.incident, requests),
        "notes": IncidentNote.objects.filter(incident=case.incident).order_by("pk"),
        "evidence": _evidence(case) if request.user.has_perm(PERMISSION) else (),
    }
    access_log.shown(request, told, *(player for player, _ in case.moved_back))
    context = {
        "case": case,
        **told,
        **letters.on_page(case),
    }
    return render(request, "staff/incident.html", context)


@staff_required(READ)
@require_POST
def staff_incident_note(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Add a note to an incident."""
    case = case_or_404(incident_id)
    form = NoteForm(request.POST)
    if form.is_valid():
        note(incident=case.incident, text=form.cleaned_data["text"], by=str(request.staff))
        messages.success(request, "Your note is kept.")
    else:
        messages.error(request, "Write something, of at most 1000 characters.")
    return redirect("staff_incident", incident_id)


@staff_required(EXPORT)
@staff_required(READ)
@require_safe
def staff_incident_export(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Export an incident as a file for the regulator. Its hash is recorded in the event log."""
    case = case_or_404(incident_id)
    taken = export(case=case, requests=approvals_of(case), by=str(request.staff))
    access_log.note_list(request, taken.players, what="an incident as a file")
    answer = HttpResponse(taken.content, content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="incident-{incident_id}-{taken.digest[:12]}.zip"'
    return answer


def _evidence(case: Case) -> Sequence[tuple[str, str]]:
    """Return whether seed and rules confirm the round, for the staff who rule on it.

    Returns nothing for a voided round.
    """
    live = case.incident.live_round
    if live is None or not case.awaits_ruling or case.is_annulled:
        return ()
    if live.phase not in (Phase.DEALT, Phase.SETTLED):
        return [("Seed reproduces it", "no card is drawn yet: there is nothing to recompute")]
    return evidence.facts(live)


def case_or_404(incident_id: int) -> Case:
    """Return an incident with everything that belongs to it. Raises Http404."""
    case = incidents.case_of(incident_id) if incident_id < 2**63 else None
    if case is None:
        raise Http404
    return case


def approvals_of(case: Case) -> list[Approval]:
    """Return the requests about the incident's round with their decisions, oldest first."""
    asked = Approval.objects.filter(kind=KIND, on=f"round:{case.round_id}")
    return list(asked.select_related("decision").order_by("pk"))
