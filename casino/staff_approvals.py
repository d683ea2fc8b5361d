"""Approvals as staff decide them. The ground floor keeps them and knows nobody; who may decide is said here."""

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit import approvals
from audit.models import Approval, Decision
from players import looking
from players.access import StaffRequest, staff_required
from players.models import Staff

MOST_DECIDED = 50
SEE_ALL = "audit.view_approval"
READERS = (*approvals.permissions(), SEE_ALL)


@dataclass(frozen=True)
class Open:
    """A request that waits for a decision; ``is_own`` where the reader asked for it, under whichever account,
    ``may_decide`` where their role decides requests of this kind.
    """

    approval: Approval
    description: approvals.Description | None  # None: what is stored is not what was asked for
    is_own: bool
    may_decide: bool


def waiting_for(staff: Staff) -> int:
    """Return how many requests wait that a member of staff may decide: of their kinds, and not asked for by them."""
    kinds = [name for name in approvals.kinds() if staff.user.has_perm(approvals.kind(name).permission)]
    return approvals.waiting().filter(kind__in=kinds).exclude(person=staff.person).count()


class VerdictForm(forms.Form):
    """Approve or refuse, and why."""

    yes = forms.TypedChoiceField(choices=[("1", "Approve"), ("0", "Refuse")], coerce=lambda text: text == "1")
    reason = forms.CharField(max_length=300, strip=True)


@staff_required(*READERS)
@looking.listed("approvals")
@require_safe
def staff_approvals(request: StaffRequest) -> HttpResponse:
    """List what waits for a second person and what was decided, of the kinds that the reader's role decides; of all
    kinds for whoever reads all.
    """
    decides = {name for name in approvals.kinds() if request.user.has_perm(approvals.kind(name).permission)}
    kinds = approvals.kinds() if request.user.has_perm(SEE_ALL) else decides
    waiting = approvals.waiting().filter(kind__in=kinds).order_by("pk")
    decided = Decision.objects.filter(approval__kind__in=kinds).select_related("approval").order_by("-at")
    context = {
        "waiting": [
            Open(each, _description(each), each.person == request.staff.person, each.kind in decides)
            for each in waiting
        ],
        "decided": decided[:MOST_DECIDED],
    }
    return render(request, "staff/approvals.html", context)


@staff_required(*approvals.permissions())
@require_POST
def staff_approval_decide(request: StaffRequest, approval_id: int) -> HttpResponse:
    """Decide, with a reason."""
    form = VerdictForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say why: the reason is kept on record.")
        return redirect("staff_approvals")
    try:
        decision = approvals.decide(
            approval_id=approval_id,
            yes=form.cleaned_data["yes"],
            by=str(request.staff),
            person=request.staff.person,
            reason=form.cleaned_data["reason"],
            may=request.user.has_perm,
        )
    except approvals.ApprovalError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Request {approval_id} is {decision.verdict}.")
    return redirect("staff_approvals")


def _description(asked: Approval) -> approvals.Description | None:
    try:
        return approvals.kind(asked.kind).describe(approvals.thaw(asked))
    except approvals.Tampered:
        return None
