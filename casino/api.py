"""URLs of the API, and its description."""

import json
from functools import cache
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path, re_path
from django.utils.cache import patch_cache_control
from django.utils.translation import override
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from accounts.protection_views import Pause
from backoffice.api.events import EventProof, Events, OneEvent, SignificantEvents
from backoffice.api.reports import Checkpoints, Consistency, Keys, Kinds, OneReport, ReportFile, ReportRows, Reports
from backoffice.api.rounds import OneRound, Rounds, RoundsInProgress
from players.access import made_by_the_page
from players.api import problems

AN_HOUR: Final = 3600  # seconds


@made_by_the_page
@require_safe
def api_schema(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI description, which changes only with a release."""
    answer = HttpResponse(description(), content_type="application/vnd.oai.openapi+json")
    patch_cache_control(answer, public=True, max_age=AN_HOUR)
    return answer


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Show the description as an interactive page; it is in English, as the description is."""
    with override("en"):
        return render(request, "swagger/docs.html")


@require_safe
def api_problems(request: HttpRequest) -> HttpResponse:
    """List all problem codes and their meanings."""
    return render(request, "api/problems.html", {"kinds": sorted(problems.KINDS.values(), key=lambda kind: kind.code)})


@require_safe
def api_problem(request: HttpRequest, code: str) -> HttpResponse:
    """Explain one problem code; its URL is the "type" of such problems."""
    kind = problems.KINDS.get(code)
    if kind is None:
        raise Http404
    return render(request, "api/problems.html", {"kind": kind})


@cache
def described() -> dict[str, Any]:
    """Return the OpenAPI description, in English for everybody."""
    with override("en"):
        found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
        return found


@cache
def description() -> bytes:
    """Return the description as JSON bytes."""
    return json.dumps(described(), ensure_ascii=False, separators=(",", ":")).encode()


COMPLIANCE: Final = [
    path("events/", Events.as_view(), name="events"),
    path("events/<int:event_id>/", OneEvent.as_view(), name="event"),
    path("events/<int:event_id>/proof/", EventProof.as_view(), name="event_proof"),
    path("log/checkpoints/", Checkpoints.as_view(), name="log_checkpoints"),
    path("log/consistency/", Consistency.as_view(), name="log_consistency"),
    path("log/keys/", Keys.as_view(), name="log_keys"),
    path("compliance/rounds/", Rounds.as_view(), name="compliance_rounds"),
    path("compliance/rounds/in-progress/", RoundsInProgress.as_view(), name="compliance_rounds_in_progress"),
    path("compliance/rounds/<uuid:round_id>/", OneRound.as_view(), name="compliance_round"),
    path("reports/", Reports.as_view(), name="reports"),
    path("reports/kinds/", Kinds.as_view(), name="report_kinds"),
    path("reports/<int:report_id>/", OneReport.as_view(), name="report"),
    path("reports/<int:report_id>/rows/", ReportRows.as_view(), name="report_rows"),
    path("reports/<int:report_id>/file.<slug:name>", ReportFile.as_view(), name="report_file"),
    path("significant/", SignificantEvents.as_view(), name="significant_events"),
]

app_name = "api"
urlpatterns = [
    path("", include("players.api.self_views")),
    path("", include("games.api.urls")),
    path("protection/pause/", Pause.as_view(), name="pause"),
    path("", include("wallet.api")),
    path("", include("wallet.seamless_wallet.urls")),
    path("", include(COMPLIANCE)),
    re_path(r"^(?P<path>.*)$", problems.nowhere),
]
