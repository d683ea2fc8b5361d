"""The ledger as staff read it: what the house owes its players, and the journals, newest first, a page at a time."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from wallet.statements import BANKS, journals, liabilities


class JournalFilter(forms.Form):
    """Which journals: those of one round, older than one of them."""

    round = forms.UUIDField(
        required=False,
        label="Code or id of the round",
        error_messages={"invalid": "No finished round has this code, nor can it be an id."},
    )
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)


@require_safe
def ledger(request: HttpRequest) -> HttpResponse:
    """A page of the ledger. Who may see it, and that it can be asked for by the code of a round, the top floor says."""
    form = JournalFilter(request.GET)
    form.full_clean()
    asked = form.cleaned_data
    page = journals(round_id=asked.get("round"), before=asked.get("before"))
    context = {
        "form": form,
        "liabilities": liabilities(),
        "journals": () if form["round"].errors else page.journals,
        "older": None if form["round"].errors else page.older,
        "round": asked.get("round"),
        "banks": BANKS,
    }
    return render(request, "staff/ledger.html", context)
