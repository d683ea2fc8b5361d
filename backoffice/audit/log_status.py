"""Status page of the event log, and the page of retention periods.

The status page shows the tree, the checkpoints, the keys, and events not yet sealed. The other page
shows the current periods, the last deletions and requests; another person must approve a change.
"""

import base64
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from audit import approvals, retention
from audit.models import Checkpoint, Event, Pending, RetainedData, Retention
from audit.sealing import alarms, checkpoint_delivery, checkpoints, sealer, signing
from audit.verification.verify import Unproven
from players.access import StaffRequest, staff_required

SHOWN: Final = 20  # checkpoints on the page


@dataclass(frozen=True)
class Signed:
    """A checkpoint as a line of the page."""

    size: int
    root: str  # in base64, as in the note
    at: datetime
    note: str

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> "Signed":
        """Return the line for a checkpoint."""
        root = base64.b64encode(bytes(checkpoint.root)).decode()
        return cls(checkpoint.size, root, checkpoint.at, checkpoint.note)


@dataclass(frozen=True)
class Refusal:
    """Refusal by the signer: since when, why, and the size of the tree it refused."""

    since: datetime
    reason: str
    size: int
    signed: int


@require_safe
def log_state(request: HttpRequest) -> HttpResponse:
    """Show the status of the log. The calling view checks permissions."""
    signed = [Signed.of(each) for each in checkpoints.latest(SHOWN)]
    leaves = sealer.leaves()
    waiting = Pending.objects.count()
    found = alarms.lag()
    vkeys, fault = _keys()
    refusal = _refusal()
    destinations = [checkpoint_delivery.record(destination) for destination in settings.AUDIT_CHECKPOINTS_TO]
    is_unsigned = bool(refusal or fault or found.is_long)
    context = {
        "is_signed": bool(signed) and not is_unsigned,
        "is_wrong": is_unsigned or not destinations or any(destination.failures for destination in destinations),
        "signed": signed,
        "last": signed[0] if signed else None,
        "age": duration_text(timezone.now() - signed[0].at) if signed else "",
        "leaves": leaves,
        "uncovered": leaves - (signed[0].size if signed else 0),
        "waiting": waiting,
        "lag": found,
        "lags_for": duration_text(timedelta(seconds=found.seconds)),
        "longest_lag": settings.AUDIT_LAG_SECONDS,
        "refusal": refusal,
        "keys": vkeys,
        "fault": fault,
        "destinations": destinations,
    }
    return render(request, "audit/log.html", context)


def duration_text(time: timedelta) -> str:
    """Return a time span in words. Longer spans use larger units."""
    seconds = max(int(time.total_seconds()), 0)
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def _keys() -> tuple[str, str]:
    """Return the keys that the house trusts, one per line, and the error found in them."""
    try:
        return "\n".join(key.vkey for key in signing.known()), ""
    except Unproven as error:
        return "", str(error)


def _refusal() -> Refusal | None:
    event = alarms.begun(alarms.REFUSED)
    if event is None:
        return None
    said = json.loads(bytes(event.body))["data"]
    return Refusal(event.at, said["reason"], said["size"], said["signed"])


SEE: Final = "audit.view_event"
LONGEST: Final = 36_525  # days, a hundred years
FEW: Final = 10  # runs


class ChangeForm(forms.Form):
    """Request for another retention period."""

    what = forms.TypedChoiceField(choices=RetainedData.choices, coerce=RetainedData)
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
        "rules": [(rules[what], what.label, asked.get(what)) for what in RetainedData],
        "runs": [_run(event) for event in Event.objects.filter(kind="retention.applied").order_by("-id")[:FEW]],
        "longest": LONGEST,
    }
    return render(request, "staff/retention.html", context)


def _ask(request: StaffRequest) -> HttpResponse:
    form = ChangeForm(request.POST)
    if not request.user.has_perm(retention.PERMISSION):
        messages.error(request, "Your role cannot change retention periods.")
    elif not form.is_valid():
        messages.error(request, "Enter a number of days and a reason. Both are recorded.")
    else:
        try:
            retention.ask(by=str(request.staff), person=request.staff.person, **form.cleaned_data)
        except (retention.TooShort, approvals.AskedTwice) as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "Change requested. A second person must approve it under Approvals.")
    return redirect("staff_retention")


def _run(event: Event) -> Run:
    said = json.loads(bytes(event.body))["data"]
    gone = tuple((RetainedData(what).label, count) for what, count in said["gone"].items() if count)
    return Run(event.at, gone, tuple(RetainedData(what).label for what in said["failed"]))
