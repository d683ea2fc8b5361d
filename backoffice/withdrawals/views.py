"""Pages of withdrawals, where finance searches and decides them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from audit.approvals import ApprovalError
from audit.reports.requests import clock
from backoffice.withdrawals import queue
from backoffice.withdrawals.queue import OVER, WAITING, Page, Wanted
from players.access import StaffRequest, staff_required
from players.staff import access_log
from players.staff.disclosure_notes import TOLD
from wallet import withdrawals
from wallet.cashier.forms import MoneyField
from wallet.models import Currency, Withdrawal, WithdrawalStatus
from wallet.models.withdrawals import OPEN
from wallet.withdrawals.messages import REASONS


class DecisionForm(forms.Form):
    """Decision on a withdrawal, with a reason for the record.

    A refusal also needs a reason for the player.
    """

    action = forms.ChoiceField(choices=[("approve", "Approve"), ("refuse", "Refuse")])
    code = forms.ChoiceField(choices=[(code, code) for code in REASONS], required=False)
    reason = forms.CharField(max_length=300, strip=True)

    def clean(self) -> None:
        """Require a reason for the player if the withdrawal is refused."""
        if self.cleaned_data.get("action") == "refuse" and not self.cleaned_data.get("code"):
            self.add_error("code", self.fields["code"].error_messages["required"])


class QueueForm(forms.Form):
    """Filter of withdrawals. The amount is in units of the chosen currency, or of any currency."""

    STATES = {"": "waiting for a decision", **dict(WithdrawalStatus.choices), "over": "decided, any"}

    number = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, label="Number")
    state = forms.ChoiceField(required=False, choices=list(STATES.items()))
    currency = forms.ChoiceField(required=False, choices=[("", "any"), *((code, code) for code in Currency.values)])
    above = MoneyField(required=False, label="More than")
    hours = forms.IntegerField(required=False, min_value=1, max_value=10_000, label="Open for over (hours)")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        chosen, above = data.get("currency", ""), self.fields["above"]
        assert isinstance(above, MoneyField)  # noqa: S101  (declared above)
        above.currency = chosen if chosen in Currency.values else Currency.EUR

    def statuses(self) -> Sequence[str]:
        """Return the chosen statuses, by default those that await a decision."""
        state = self.cleaned_data.get("state", "")
        return OVER if state == "over" else (state,) if state else WAITING

    def clean(self) -> None:
        """Allow a filter by amount or age only for open withdrawals: decided ones are too many to scan."""
        if set(self.statuses()) <= set(OPEN):
            return
        for name in ("above", "hours"):
            if self.cleaned_data.get(name):
                self.add_error(name, "This finds what is still open. For the others there is the report of payments.")


APPROVERS = "wallet.approve_withdrawal"
READERS = (APPROVERS, "wallet.see_withdrawals")


@staff_required(*READERS)
@access_log.listed("withdrawals")
@require_safe
def staff_withdrawals(request: StaffRequest) -> HttpResponse:
    """List withdrawals. Those that await a decision come with facts about their players."""
    form = QueueForm(request.GET)
    form.full_clean()
    wanted, page = Wanted(form.statuses()), Page()
    if not form.errors:
        asked = form.cleaned_data
        hours = asked["hours"]
        wanted = Wanted(
            statuses=form.statuses(),
            currency=asked["currency"],
            above=asked["above"],
            since=clock() - timedelta(hours=hours) if hours else None,
        )
        number = asked["number"]
        page = queue.one(number) if number else queue.find(wanted, mark=asked["before"])
    is_filtered = any(request.GET.get(name) for name in form.fields)
    lately = () if is_filtered else queue.find(Wanted(queue.OVER)).withdrawals
    access_log.shown(request, *(each.player_id for each in (*page.withdrawals, *lately)))
    context = {
        "form": form,
        "cases": queue.cases(page.withdrawals),
        "lately": lately,
        "others": [each for each in page.withdrawals if each.status not in queue.WAITING],
        "older": page.further,
        "counted": queue.counted(),
        "is_open": wanted.is_open,
        "is_filtered": is_filtered,
        "reasons": [(code, str(sentence)) for code, sentence in REASONS.items()],
        "person": request.staff.person,
        "told": TOLD,
    }
    return render(request, "staff/withdrawals.html", context)


@staff_required(APPROVERS)
@require_POST
def staff_withdrawal_decide(request: StaffRequest, withdrawal_id: int) -> HttpResponse:
    """Approve or refuse a withdrawal, with a reason."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, _fault(form))
        return _back(request)
    try:
        decided = _decide(request, withdrawal_id, form)
    except (withdrawals.WithdrawalError, ApprovalError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _sentence(decided))
    return _back(request)


def _back(request: StaffRequest) -> HttpResponse:
    """Redirect to the list with its filter."""
    kept = {name: request.GET[name] for name in QueueForm.base_fields if request.GET.get(name)}
    return redirect(f"{reverse('staff_withdrawals')}{'?' if kept else ''}{urlencode(kept)}")


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
