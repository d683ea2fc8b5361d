"""Actions of staff at tables.

Which are possible, and the resulting state.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from audit.approvals import ApprovalError
from audit.staff_text import word
from games.chemin.stop import break_up, continue_table
from games.incidents import unruled
from games.models import OPEN_PHASES, Incident, LiveTable, Status, Table, Void
from games.models.rounds import round_code
from games.shared import malfunction
from games.shared.floor import floor
from games.shared.floor.rows import REPORTERS
from games.shared.malfunction import MalfunctionError
from games.tables import status
from players.access import StaffRequest, staff_required
from players.staff import access_log
from wallet.models import Mode

FINISHED: Final = gettext_lazy("A round in progress is completed and paid first; accepted bets remain valid.")


@dataclass(frozen=True)
class TableAction:
    """Action on a table: its function, its label, and the state it leads to."""

    do: Callable[..., Table]  # called with table_id, reason and by
    label: str | Promise  # with the name of the table as *table*
    leads_to: Status
    what: str | Promise  # sentences next to its button

    def button(self, table: str) -> str:
        """Return the text of the button for *table*."""
        return str(self.label) % {"table": table}


ACTIONS: Final[Mapping[str, TableAction]] = {
    "pause": TableAction(
        status.pause_table,
        gettext_lazy("Pause %(table)s"),
        Status.PAUSED,
        gettext_lazy(
            "A round in progress is completed and paid first; accepted bets remain valid. Players keep their seats."
        ),
    ),
    "continue": TableAction(
        continue_table, gettext_lazy("Resume %(table)s"), Status.OPEN, gettext_lazy("The next round starts at once.")
    ),
    "open": TableAction(
        status.open_table, gettext_lazy("Open %(table)s"), Status.OPEN, gettext_lazy("Rounds start at once.")
    ),
    "close": TableAction(
        status.close_table,
        gettext_lazy("Close %(table)s"),
        Status.CLOSED,
        gettext_lazy(
            "A round in progress is completed and paid first; accepted bets remain valid. Players leave their seats."
        ),
    ),
}
"""Actions by the name that forms submit."""

POSSIBLE: Final[Mapping[str, Sequence[str]]] = {
    Status.OPEN: ("pause", "close"),
    Status.PAUSED: ("continue", "close"),
    Status.CLOSED: ("open",),
}
WHILE_PLAYING: Final[Mapping[str, str | Promise]] = {
    Status.PAUSED: gettext_lazy("pausing; the round in progress is completed first"),
    Status.CLOSED: gettext_lazy("closing; the round in progress is completed first"),
}


def possible(table: Table) -> Mapping[str, TableAction]:
    """Return the actions possible in the table's current state, by name."""
    return {name: ACTIONS[name] for name in POSSIBLE[table.status]}


def state_text(table: Table) -> str:
    """Return the table's current state as text.

    It says whether a round is still being finished, and names stops that these actions do not lift.
    """
    live_tables = list(LiveTable.objects.filter(table=table).select_related("round").order_by("-mode"))
    stopped = [each for each in live_tables if each.stopped_by_id]
    is_playing = any(
        each.round is not None and each.round.phase in OPEN_PHASES for each in live_tables if each not in stopped
    )
    message = WHILE_PLAYING.get(table.status) if is_playing else None
    said = f"{table.name}: {message or table.get_status_display()}."
    for each in stopped:
        stays = (
            gettext("For real money it remains stopped by an incident until a supervisor resumes it.")
            if each.mode == Mode.REAL
            else gettext("For free money it remains stopped by an incident until a supervisor resumes it.")
        )
        said += f" {stays}"
    return said


ROW: Final = re.compile(r"(live|solo)-[0-9]{1,18}")
"""The id of a row of the floor, which forms on the floor submit."""


def to_the_table(message: str, row: str) -> str | SafeString:
    """Return a message with a link to a row of the floor, if *row* is the id of one."""
    if not ROW.fullmatch(row):
        return message
    return format_html('{} <a href="{}#{}">{}</a>', message, reverse("staff_floor"), row, gettext("View table"))


def after_a_ruling(message: str, live_table_id: int) -> str | SafeString:
    """Return a message with what is left to do at a stopped live table, and a link to the table."""
    if not LiveTable.objects.filter(pk=live_table_id, stopped_by__isnull=False).exists():
        return to_the_table(message, f"live-{live_table_id}")
    waiting = unruled().filter(live_round__live_table=live_table_id).values_list("pk", flat=True)
    numbers = ", ".join(str(each) for each in waiting)
    left = (
        (gettext("still awaiting a ruling: incident %(numbers)s") % {"numbers": numbers})
        if numbers
        else gettext("resume it")
    )
    return to_the_table(
        (gettext("%(message)s The table is still stopped: %(left)s.") % {"message": message, "left": left}),
        f"live-{live_table_id}",
    )


SUPERVISE = malfunction.PERMISSION
UNSURE = gettext_lazy("Enter a reason and tick the confirmation. The reason is recorded.")


class ReasonForm(forms.Form):
    """Reason for an action."""

    reason = forms.CharField(max_length=300)


class FinalForm(ReasonForm):
    """Reason and confirmation of an action that cannot be undone."""

    sure = forms.BooleanField()


class RulingForm(FinalForm):
    """Ruling of the supervisor."""

    decision = forms.ChoiceField(
        choices=[
            ("stands", gettext_lazy("Round stands")),
            ("void", gettext_lazy("Void round")),
            ("voided", gettext_lazy("Round is void")),
        ]
    )


@staff_required(*REPORTERS)
@require_POST
def staff_round_report(request: StaffRequest, round_id: UUID) -> HttpResponse:
    """Report a round. At a shared table this stops the table."""
    form = FinalForm(request.POST)

    def report() -> str:
        cause = form.cleaned_data["reason"]
        incident = malfunction.report(round_id=round_id, cause=cause, by=str(request.staff))
        live, done = incident.live_round, " ".join(map(word, incident.done))
        if live is None:
            return gettext("Incident %(incident)s, round %(code)s: %(done)s") % {
                "incident": incident.pk,
                "code": round_code(round_id),
                "done": done,
            }
        said = gettext("%(table)s is stopped. Incident %(incident)s, round %(code)s: %(done)s") % {
            "table": incident.table,
            "incident": incident.pk,
            "code": live.code,
            "done": done,
        }
        return to_the_table(said, f"live-{live.live_table_id}")

    return _do(request, form, report, "staff_incidents")


@staff_required(SUPERVISE)
@require_POST
def staff_round_cancel(request: StaffRequest, round_id: UUID) -> HttpResponse:
    """Cancel a round before its deal. All stakes are returned."""
    form = FinalForm(request.POST)

    def cancel() -> str:
        live = malfunction.cancel(round_id=round_id, reason=form.cleaned_data["reason"], by=str(request.staff))
        return after_a_ruling(
            (gettext("Round %(code)s is cancelled. All stakes are returned.") % {"code": live.code}), live.live_table_id
        )

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
            return gettext("Requested. A second person must approve it under Approvals.")
        if form.cleaned_data["decision"] == "voided":
            ruling = malfunction.accept_void(incident_id=incident_id, reason=reason, by=str(by))
            said = gettext("Incident %(incident_id)s is ruled on: %(incident)s.") % {
                "incident_id": incident_id,
                "incident": _as_it_ended(ruling.incident),
            }
        else:
            ruling = malfunction.let_stand(incident_id=incident_id, reason=reason, by=str(by))
            said = gettext("Incident %(incident_id)s is ruled on: the round stands.") % {"incident_id": incident_id}
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
        said = (
            (gettext("%(table)s has resumed.") % {"table": table})
            if table.status == Status.OPEN
            else (gettext("The stop is lifted. %(table)s") % {"table": state_text(table)})
        )
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
        said = gettext("%(table)s is broken up. All players have left their seats with their money.") % {
            "table": live_table.table
        }
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
    return gettext("the round stays void") if is_kept else gettext("the round had ended without a bet")
