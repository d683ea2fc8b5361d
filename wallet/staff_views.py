"""The ledger as staff read it: what the house owes its players, and the journals, newest first, a page at a time."""

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from players.access import StaffRequest, staff_required
from wallet.statements import journals, liabilities


class JournalFilter(forms.Form):
    """Which journals: those of one round, older than one of them."""

    round = forms.UUIDField(required=False, label="Round id")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)


@staff_required("wallet.view_ledger")
@require_safe
def staff_ledger(request: StaffRequest) -> HttpResponse:
    """A page of the ledger."""
    form = JournalFilter(request.GET)
    asked = form.cleaned_data if form.is_valid() else {}
    page = journals(round_id=asked.get("round"), before=asked.get("before"))
    context = {
        "form": form,
        "liabilities": liabilities(),
        "journals": page.journals,
        "older": page.older,
        "round": asked.get("round"),
    }
    return render(request, "staff/ledger.html", context)
