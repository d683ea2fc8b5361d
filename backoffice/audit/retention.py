"""Retention periods: the current ones, the last deletions, and requests to change a period.

Another person must approve a change.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from audit import approvals, retention
from audit.models import Event, Kept, Retention
from players.access import StaffRequest, staff_required

SEE: Final = "audit.view_event"
LONGEST: Final = 36_525  # days, a hundred years
FEW: Final = 10  # runs


class ChangeForm(forms.Form):
    """Request for another retention period."""

    what = forms.TypedChoiceField(choices=Kept.choices, coerce=Kept)
    days = forms.IntegerField(min_value=1, max_value=LONGEST)
    reason = forms.CharField(max_length=300)


@dataclass(frozen=True)
class Run:
    """One run of the deletion: rows deleted of each kind, and the kinds that failed."""

    at: datetime
    gone: tuple[tuple[str, int], ...]
    failed: tuple[str, ...]


@staff_required(SEE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_retention(request: StaffRequest) -> HttpResponse:
    """Show retention periods, who set them and the latest deletions.

    On POST, request another period.
    """
    if request.method == "POST":
        return _ask(request)
    rules = {rule.what: rule for rule in Retention.objects.all()}
    asked = {each.on.partition(":")[2]: each for each in approvals.waiting().filter(kind=retention.KIND)}
    context = {
        "rules": [(rules[what], what.label, asked.get(what)) for what in Kept],
        "runs": [_run(event) for event in Event.objects.filter(kind="retention.applied").order_by("-id")[:FEW]],
        "longest": LONGEST,
    }
    return render(request, "staff/retention.html", context)


def _ask(request: StaffRequest) -> HttpResponse:
    form = ChangeForm(request.POST)
    if not request.user.has_perm(retention.PERMISSION):
        messages.error(request, "Your role does not change how long anything is kept.")
    elif not form.is_valid():
        messages.error(request, "Give a number of days, and say why: both are kept on record.")
    else:
        try:
            retention.ask(by=str(request.staff), person=request.staff.person, **form.cleaned_data)
        except (retention.TooShort, approvals.AskedTwice) as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "Asked for. Another person has to agree, on the page of approvals.")
    return redirect("staff_retention")


def _run(event: Event) -> Run:
    said = json.loads(bytes(event.body))["data"]
    gone = tuple((Kept(what).label, count) for what, count in said["gone"].items() if count)
    return Run(event.at, gone, tuple(Kept(what).label for what in said["failed"]))
