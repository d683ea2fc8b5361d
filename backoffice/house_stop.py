"""Pages of the house stop: stop all play and deposits, and resume them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from audit.reports.kinds import Column, Form
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
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
LONGEST_REASON: Final = 300


class EarlierStops(StaffList):
    """House stops that have ended."""

    model = HouseStop
    name = gettext_noop("Earlier stops")
    players = NO_PLAYERS
    columns = (
        Column("at", "Stopped", Form.TIME),
        Column("ended_at", "Ended", Form.TIME),
        Column("starter", "Stopped by"),
        Column("reason", "Reason"),
        Column("ender", "Ended by"),
        Column("ended_reason", "Reason for ending"),
    )
    empty = gettext_noop("No earlier stops.")

    def found(self) -> QuerySet[HouseStop]:
        """Return the stops that have ended."""
        return HouseStop.objects.exclude(ended_at=None).select_related("by", "ended_by")

    def of_starter(self, stop: HouseStop) -> str:
        """Return who started the stop."""
        return f"{stop.by.name} ({stop.by})"

    def of_ender(self, stop: HouseStop) -> str:
        """Return who ended the stop."""
        return f"{stop.ended_by.name} ({stop.ended_by})" if stop.ended_by else ""


class StopForm(forms.Form):
    """Reason and confirmation."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Recorded with your name. Not shown to players."),
        error_messages={"required": gettext_lazy("Enter a reason. It is recorded.")},
    )
    sure = forms.BooleanField(error_messages={"required": gettext_lazy("Tick the confirmation.")})


@staff_required(*READERS)
@require_safe
def staff_stop(request: StaffRequest) -> HttpResponse:
    """Show whether the house is stopped, what a stop does, and earlier stops."""
    return _page(request, StopForm())


@staff_required(STOP)
@require_POST
def staff_stop_house(request: StaffRequest) -> HttpResponse:
    """Start the house stop."""
    return _do(request, stop, gettext("House stop started. All new stakes and deposits are blocked."))


@staff_required(STOP)
@require_POST
def staff_stop_end(request: StaffRequest) -> HttpResponse:
    """End the house stop."""
    return _do(request, resume, gettext("House stop ended. Open tables start their next rounds."))


def _do(request: StaffRequest, action: Callable[..., object], said: str) -> HttpResponse:
    """Start or end the stop with the given reason, and show the result."""
    form = StopForm(request.POST)
    if not form.is_valid():
        return _page(request, form)
    try:
        action(reason=form.cleaned_data["reason"], by=request.staff)
    except house_stop.StopError as error:
        messages.warning(request, (gettext("%(error)s Your reason was not recorded.") % {"error": error}))
    else:
        messages.success(request, said)
    return redirect("staff_stop")


def _page(request: StaffRequest, form: StopForm) -> HttpResponse:
    context: dict[str, Any] = {
        "stop": house_stop.current(),
        "form": form,
        "may_stop": request.user.has_perm(STOP),
    }
    return EarlierStops(request).answer("staff/stop.html", context)
