"""Pages of the house stop: stop all play and deposits, and resume them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from backoffice.lists.paging import NEWEST_FIRST
from games.chemin.stop import give_time_back
from games.models import LiveTable, Shape
from games.tables.checks import TableError
from players import notify
from players.access import StaffRequest, staff_required
from players.models import Staff
from wallet import house_stop
from wallet.models import HouseStop


@transaction.atomic
def stop(*, reason: str, by: Staff) -> HouseStop:
    """Start the house stop and notify every table. Raises StopError."""
    stopped = house_stop.stop_house(reason=reason, by=by)
    _notify_tables()
    return stopped


@transaction.atomic
def resume(*, reason: str, by: Staff) -> HouseStop:
    """End the house stop and return it.

    Raises StopError.

    Players at Chemin de Fer get their full time again, away or not. A table that cannot give time
    back (TableError) does not hold up the others.
    """
    ended = house_stop.resume_house(reason=reason, by=by)
    for live_table in LiveTable.objects.filter(table__shape=Shape.CHEMIN).select_related("table").order_by("pk"):
        with suppress(TableError):
            give_time_back(live_table)
    _notify_tables()
    return ended


def _notify_tables() -> None:
    for live_table_id in LiveTable.objects.values_list("pk", flat=True):
        notify.notify_table(live_table_id)


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
