"""Dashboard page. Each panel is shown only to readers who may see the data behind it."""

from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.reports.requests import clock
from backoffice.dashboard import health as health
from backoffice.dashboard import money as money
from backoffice.dashboard import queues as waiting
from backoffice.dashboard import returns as returns
from backoffice.dashboard.period import PeriodForm
from players.access import StaffRequest, made_by_the_page, staff_required

READERS: Final = tuple(dict.fromkeys((money.SEE, returns.SEE, *waiting.SEE, *health.SEE)))


@staff_required(*READERS)
@require_safe
def staff_dashboard(request: StaffRequest) -> HttpResponse:
    """Show the dashboard."""
    return render(request, "staff/dashboard.html", _told(request))


@made_by_the_page
@staff_required(*READERS)
@require_safe
def staff_dashboard_now(request: StaffRequest) -> HttpResponse:
    """Show everything except the choice of a period, for the page's own refresh."""
    return render(request, "staff/_dashboard.html", _told(request))


def _told(request: StaffRequest) -> dict[str, Any]:
    now = clock()
    form = PeriodForm(request.GET, now=now)
    span = form.span(now)
    mine = request.user.get_all_permissions()
    told: dict[str, Any] = {"form": form, "span": span, "now": now, "counts": waiting.counts(request.staff)}
    if money.SEE in mine:
        told |= {"sees_money": True, "currencies": money.told(span)}
    if returns.SEE in mine:
        told |= {"sees_returns": True, "games": returns.told(span), "returns_address": returns.address(span)}
    if not mine.isdisjoint(health.SEE):
        told |= {"sees_health": True, "health": [(line, line.permission in mine) for line in health.lines()]}
    return told
