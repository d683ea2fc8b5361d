"""Complaints desk: list by due date, assign, reopen, and export the list."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from backoffice.lists import files
from backoffice.support.conversations import AssignForm, ReopenForm, show
from backoffice.support.queues import Complaints
from players.access import StaffRequest, staff_required
from players.models import Conversation, Topic
from players.staff import access_log
from players.support import complaints
from players.support.complaints import ANSWER, DECIDE
from players.support.conversations import ServiceError


@staff_required(ANSWER)
@access_log.listed("complaints")
@require_safe
def staff_complaints(request: StaffRequest) -> HttpResponse:
    """List complaints."""
    return Complaints(request).answer("staff/complaints.html")


@staff_required(files.EXPORT)
@staff_required(ANSWER)
@require_safe
def staff_complaints_export(request: StaffRequest) -> HttpResponse:
    """Export the complaints of the list, from the current page on."""
    return Complaints(request).file()


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
