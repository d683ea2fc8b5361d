"""Complaints desk: list by due date, assign, reopen, and export the list."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit.reports.kinds import Column, Form, Row
from backoffice.lists import files
from backoffice.lists.paging import of_queryset
from backoffice.support import queues
from backoffice.support.conversations import AssignForm, DeskForm, ReopenForm, show
from players.access import StaffRequest, staff_required
from players.models import CaseStep, ComplaintStep, Conversation, Topic
from players.staff import access_log
from players.support import complaints
from players.support.complaints import ANSWER, DECIDE
from players.support.conversations import ServiceError

NAME: Final = "Complaints"
COLUMNS: Final = (
    Column("number", "Number", Form.NUMBER),
    Column("player", "Player"),
    Column("jurisdiction", "Jurisdiction"),
    Column("filed", "Filed", Form.TIME),
    Column("due", "Due", Form.TIME),
    Column("state", "State"),
    Column("ended", "Closed", Form.TIME),
    Column("verdict", "Verdict"),
    Column("days", "Days to decision", Form.NUMBER),
    Column("late", "Times overdue", Form.NUMBER),
    Column("reopened", "Times reopened", Form.NUMBER),
    Column("round", "Round"),
)


@staff_required(ANSWER)
@access_log.listed("complaints")
@require_safe
def staff_complaints(request: StaffRequest) -> HttpResponse:
    """List complaints, first due first."""
    form = DeskForm(request.GET)
    form.full_clean()
    found, order = queues.complaints(form.cleaned_data, me=request.staff.pk)
    page = order.page(found, request.GET, queues.PAGE)
    is_ended = bool(form.cleaned_data.get("verdict")) or form.cleaned_data.get("show") == queues.ENDED
    access_log.shown(request, *(each.player_id for each in page.rows))
    context = {
        "form": form,
        "complaints": page.rows,
        "page": page,
        "is_ended": is_ended,
        "may_export": request.user.has_perm(files.EXPORT),
    }
    return render(request, "staff/complaints.html", context)


@staff_required(files.EXPORT)
@staff_required(ANSWER)
@require_safe
def staff_complaints_export(request: StaffRequest) -> HttpResponse:
    """Export the complaints on the desk from the current page on.

    The hash is recorded in the event log.
    """
    form = DeskForm(request.GET)
    form.full_clean()
    wanted, order = queues.complaints(form.cleaned_data, me=request.staff.pk)
    found = of_queryset(wanted)(order, order.start(Conversation, request.GET), files.MOST + 1)
    is_more, found = len(found) > files.MOST, found[: files.MOST]
    return files.export(
        request,
        "csv",
        name=NAME,
        label="complaints",
        asked=[(name, request.GET[name]) for name in form.fields if request.GET.get(name)],
        columns=COLUMNS,
        rows=list(_rows(found)),
        players={each.player_id for each in found},
        goes_on=f"More rows follow {order.forward} {order.cursor(found[-1])}." if is_more else "",
    )


@staff_required(ANSWER)
@require_POST
def staff_complaint_assign(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Assign a complaint to oneself, to a colleague or to nobody; or show why it is not possible."""
    conversation, form = _find(conversation_id), AssignForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose the person to assign the complaint to.")
        return redirect("staff_service_thread", conversation_id=conversation.pk)
    asked = form.cleaned_data
    try:
        now = complaints.assign(by=request.staff, conversation_id=conversation.pk, whose=asked["whose"], to=asked["to"])
    except ServiceError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"The complaint is {complaints.named(now)} now.")
    return redirect("staff_service_thread", conversation_id=conversation.pk)


@staff_required(DECIDE)
@require_POST
def staff_complaint_reopen(request: StaffRequest, conversation_id: int) -> HttpResponse:
    """Reopen a complaint, or show why it is not possible."""
    conversation, form = _find(conversation_id), ReopenForm(request.POST)
    if not form.is_valid():
        return show(request, conversation, reopen_form=form)
    try:
        complaints.reopen_by_house(by=request.staff, conversation_id=conversation.pk, text=form.cleaned_data["text"])
    except ServiceError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, "The complaint is reopened and the player has been notified by e-mail.")
    return redirect("staff_service_thread", conversation_id=conversation.pk)


def _find(conversation_id: int) -> Conversation:
    found = Conversation.objects.select_related("player__user", "player__jurisdiction", "assigned_to")
    return get_object_or_404(found, pk=conversation_id, topic=Topic.COMPLAINT)


def _rows(found: Iterable[Conversation]) -> Iterator[Row]:
    """Yield the values that a regulator asks for, for each complaint."""
    wanted = {each.pk: each for each in found}
    steps = ComplaintStep.objects.filter(conversation__in=wanted).values("conversation")
    counted = {
        each["conversation"]: each
        for each in steps.annotate(
            late=Count("pk", filter=Q(step=CaseStep.OVERDUE)), reopened=Count("pk", filter=Q(step=CaseStep.REOPENED))
        )
    }
    for each in wanted.values():
        of_steps = counted.get(each.pk, {"late": 0, "reopened": 0})
        yield (
            each.pk,
            str(each.player),
            each.player.jurisdiction_id,
            _written(each.began_at),
            _written(each.due_at),
            each.get_state_display(),
            _written(each.ended_at),
            each.get_verdict_display(),
            (each.ended_at - each.began_at).days if each.ended_at else None,
            of_steps["late"],
            of_steps["reopened"],
            each.round_code,
        )


def _written(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None
