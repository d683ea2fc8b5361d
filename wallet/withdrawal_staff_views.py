"""Withdrawals as finance decides them. In English, like all of the back office."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit.approvals import ApprovalError
from players import looking
from players.access import StaffRequest, staff_required
from wallet import withdrawal_queue, withdrawals
from wallet.models import Withdrawal, WithdrawalStatus
from wallet.withdrawal_forms import DecisionForm
from wallet.withdrawal_words import REASONS

APPROVERS = "wallet.approve_withdrawal"
READERS = (APPROVERS, "wallet.see_withdrawals")


@staff_required(*READERS)
@looking.listed("withdrawals")
@require_safe
def staff_withdrawals(request: StaffRequest) -> HttpResponse:
    """List what waits, with what there is to know before money leaves; then what was decided."""
    context = {
        "cases": withdrawal_queue.waiting(),
        "done": withdrawal_queue.done(),
        "reasons": [(code, str(sentence)) for code, sentence in REASONS.items()],
        "person": request.staff.person,
    }
    return render(request, "staff/withdrawals.html", context)


@staff_required(APPROVERS)
@require_POST
def staff_withdrawal_decide(request: StaffRequest, withdrawal_id: int) -> HttpResponse:
    """Approve or refuse, with a reason."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, _fault(form))
        return redirect("staff_withdrawals")
    try:
        decided = _decide(request, withdrawal_id, form)
    except (withdrawals.WithdrawalError, ApprovalError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _sentence(decided))
    return redirect("staff_withdrawals")


def _decide(request: StaffRequest, withdrawal_id: int, form: DecisionForm) -> Withdrawal:
    said, by = form.cleaned_data, str(request.staff)
    if said["action"] == "refuse":
        return withdrawals.refuse(withdrawal_id=withdrawal_id, by=by, code=said["code"], note=said["reason"])
    return withdrawals.approve(withdrawal_id=withdrawal_id, by=by, person=request.staff.person, reason=said["reason"])


def _fault(form: DecisionForm) -> str:
    if "reason" in form.errors:
        return "Say why: what you write is kept on record."
    return "Choose what the player is told." if "code" in form.errors else "Choose to approve or to refuse."


def _sentence(decided: Withdrawal) -> str:
    if decided.status == WithdrawalStatus.SECONDING:
        return f"Withdrawal {decided.pk} is approved by you. It takes a second person, under Approvals."
    return f"Withdrawal {decided.pk} is {decided.get_status_display().lower()}."
