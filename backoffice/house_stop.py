"""Pages of the house stop: stop all play and deposits, and resume them."""

from collections.abc import Callable
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from backoffice.lists.paging import NEWEST_FIRST
from games.house_stop import resume, stop
from players.access import StaffRequest, staff_required
from wallet import house_stop
from wallet.models import HouseStop

STOP: Final = "wallet.stop_house"
READERS: Final = (STOP, "audit.view_event")
PAGE: Final = 25  # earlier stops per page
LONGEST_REASON: Final = 300


class StopForm(forms.Form):
    """Reason and confirmation."""

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Recorded with your name. Not shown to players.",
        error_messages={"required": "Enter a reason. It is recorded."},
    )
    sure = forms.BooleanField(error_messages={"required": "Tick the confirmation."})


@staff_required(*READERS)
@require_safe
def staff_stop(request: StaffRequest) -> HttpResponse:
    """Show whether the house is stopped, what a stop does, and earlier stops."""
    return _page(request, StopForm())


@staff_required(STOP)
@require_POST
def staff_stop_house(request: StaffRequest) -> HttpResponse:
    """Start the house stop."""
    return _do(request, stop, "House stop started. All new stakes and deposits are blocked.")


@staff_required(STOP)
@require_POST
def staff_stop_end(request: StaffRequest) -> HttpResponse:
    """End the house stop."""
    return _do(request, resume, "House stop ended. Open tables start their next rounds.")


def _do(request: StaffRequest, action: Callable[..., object], said: str) -> HttpResponse:
    """Start or end the stop with the given reason, and show the result."""
    form = StopForm(request.POST)
    if not form.is_valid():
        return _page(request, form)
    try:
        action(reason=form.cleaned_data["reason"], by=request.staff)
    except house_stop.StopError as error:
        messages.warning(request, f"{error} Your reason was not recorded.")
    else:
        messages.success(request, said)
    return redirect("staff_stop")


def _page(request: StaffRequest, form: StopForm) -> HttpResponse:
    earlier = HouseStop.objects.exclude(ended_at=None).select_related("by", "ended_by")
    context: dict[str, Any] = {
        "stop": house_stop.current(),
        "form": form,
        "may_stop": request.user.has_perm(STOP),
        "page": NEWEST_FIRST.page(earlier, request.GET, PAGE),
    }
    return render(request, "staff/stop.html", context)
