"""Staff actions at a live table: report or cancel a round, rule, resume, break up."""

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from audit.approvals import ApprovalError
from backoffice.tables.table_actions import ROW, after_a_ruling, stands, to_the_table
from games.chemin.stop import break_up
from games.models import Incident, LiveTable, Status, Void
from games.shared import malfunction
from games.shared.floor import floor
from games.shared.floor.rows import REPORTERS
from games.shared.malfunction import MalfunctionError
from players.access import StaffRequest, staff_required
from players.staff import access_log

SUPERVISE = malfunction.PERMISSION
UNSURE = "Enter a reason and tick the confirmation. The reason is recorded."


class ReasonForm(forms.Form):
    """Reason for an action."""

    reason = forms.CharField(max_length=300)


class FinalForm(ReasonForm):
    """Reason and confirmation of an action that cannot be undone."""

    sure = forms.BooleanField()


class RulingForm(FinalForm):
    """Ruling of the supervisor."""

    decision = forms.ChoiceField(
        choices=[("stands", "Round stands"), ("void", "Void round"), ("voided", "Round is void")]
    )


@staff_required(*REPORTERS)
@require_POST
def staff_round_report(request: StaffRequest, round_id: UUID) -> HttpResponse:
    """Report a round, which stops its table."""
    form = FinalForm(request.POST)

    def report() -> str:
        cause = form.cleaned_data["reason"]
        incident = malfunction.report(round_id=round_id, cause=cause, by=str(request.staff))
        assert incident.live_round  # noqa: S101  (only rounds of live tables are reported)
        live, done = incident.live_round, " ".join(incident.done)
        said = f"{incident.table} is stopped. Incident {incident.pk}, over round {live.code}: {done}"
        return to_the_table(said, f"live-{live.live_table_id}")

    return _do(request, form, report, "staff_incidents")


@staff_required(SUPERVISE)
@require_POST
def staff_round_cancel(request: StaffRequest, round_id: UUID) -> HttpResponse:
    """Cancel a round before its deal. All stakes are returned."""
    form = FinalForm(request.POST)

    def cancel() -> str:
        live = malfunction.cancel(round_id=round_id, reason=form.cleaned_data["reason"], by=str(request.staff))
        return after_a_ruling(f"Round {live.code} is cancelled. All stakes are returned.", live.live_table_id)

    return _do(request, form, cancel, "staff_floor")


@staff_required(SUPERVISE)
@require_POST
def staff_incident_rule(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Rule on an incident. To void a round after its deal only makes a request."""
    form = RulingForm(request.POST)

    def rule() -> str:
        reason, by = form.cleaned_data["reason"], request.staff
        if form.cleaned_data["decision"] == "void":
            malfunction.ask_void(incident_id=incident_id, reason=reason, by=by)
            return "Requested. A second person must approve it under Approvals."
        if form.cleaned_data["decision"] == "voided":
            ruling = malfunction.accept_void(incident_id=incident_id, reason=reason, by=str(by))
            said = f"Incident {incident_id} is ruled on: {_as_it_ended(ruling.incident)}."
        else:
            ruling = malfunction.let_stand(incident_id=incident_id, reason=reason, by=str(by))
            said = f"Incident {incident_id} is ruled on: the round stands."
        assert ruling.incident.live_round  # noqa: S101  (only incidents of live tables are ruled on)
        return after_a_ruling(said, ruling.incident.live_round.live_table_id)

    return _do(request, form, rule, "staff_incident", incident_id)


@staff_required(SUPERVISE)
@require_POST
def staff_live_reopen(request: StaffRequest, live_table_id: int) -> HttpResponse:
    """Resume a stopped table."""
    get_object_or_404(LiveTable, pk=live_table_id)
    form = ReasonForm(request.POST)

    def reopen() -> str:
        reason = form.cleaned_data["reason"]
        live_table = malfunction.reopen(live_table_id=live_table_id, reason=reason, by=str(request.staff))
        table = live_table.table
        said = f"{table} has resumed." if table.status == Status.OPEN else f"The stop is lifted. {stands(table)}"
        return to_the_table(said, f"live-{live_table_id}")

    return _do(request, form, reopen, "staff_floor")


@staff_required(SUPERVISE)
@access_log.listed("players at a table")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_live_break_up(request: StaffRequest, live_table_id: int) -> HttpResponse:
    """Break up a Chemin de Fer table: all players leave their seats with their money.

    GET shows what will happen to the money at the table; POST does it.
    """
    on = next((each for tables in floor().values() for each in tables if each.live_table.pk == live_table_id), None)
    if on is None or on.chemin_state is None:
        raise Http404
    if request.method != "POST":
        access_log.shown(request, *(seated.player for seated in on.chemin_state.seated))
        return render(request, "staff/break_up.html", {"on": on})
    form = FinalForm(request.POST)

    def have_them_get_up() -> str:
        reason = form.cleaned_data["reason"]
        live_table = break_up(live_table_id=live_table_id, reason=reason, by=str(request.staff))
        said = f"{live_table.table} is broken up. All players have left their seats with their money."
        return to_the_table(said, f"live-{live_table_id}")

    return _do(request, form, have_them_get_up, "staff_floor")


def _do(request: StaffRequest, form: ReasonForm, action: Callable[[], str], page: str, *of: int) -> HttpResponse:
    """Run the action and show its result or the error.

    Return to the floor if the form was there.
    """
    try:
        if form.is_valid():
            messages.success(request, action())
        else:
            messages.error(request, UNSURE)
    except (MalfunctionError, ApprovalError) as error:
        messages.error(request, str(error))
    return redirect("staff_floor") if ROW.fullmatch(request.POST.get("back", "")) else redirect(page, *of)


def _as_it_ended(incident: Incident) -> str:
    is_kept = Void.objects.filter(pk=incident.live_round_id).exists()
    return "the round stays void" if is_kept else "the round had ended without a bet"
