"""The back office's first page. It names functions of every floor, so it stands on the top one."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from players.access import StaffRequest, staff_required


@dataclass(frozen=True)
class Function:
    """Something staff may do: the permission it takes, the page it is done on."""

    permission: str
    page: str  # a URL name
    name: str
    purpose: str


FUNCTIONS = (
    Function("games.operate_table", "staff_tables", "Tables", "Open and close tables, with a reason."),
    Function("games.view_incident", "staff_incidents", "Incidents", "Rounds that were not what they should have been."),
    Function("wallet.view_ledger", "staff_ledger", "Ledger", "What the house owes its players, and every journal."),
    Function("audit.view_event", "staff_events", "Events", "Everything that happened, newest first."),
)


@staff_required("players.work")
@require_safe
def staff_home(request: StaffRequest) -> HttpResponse:
    """Who is logged in, in which role, and where that leads."""
    functions = [function for function in FUNCTIONS if request.user.has_perm(function.permission)]
    roles = request.user.groups.order_by("name").values_list("name", flat=True)
    return render(request, "staff/home.html", {"member": request.staff, "roles": roles, "functions": functions})
