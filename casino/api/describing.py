"""The description of the API, for programs (OpenAPI) and for people, and what each code of a problem means."""

import json
from functools import cache
from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.translation import override
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from players.access import made_by_the_page
from players.api import problems

AN_HOUR: Final = 3600  # seconds


@made_by_the_page
@require_safe
def api_schema(request: HttpRequest) -> HttpResponse:
    """Answer with the OpenAPI description, which changes only with the house."""
    answer = HttpResponse(description(), content_type="application/vnd.oai.openapi+json")
    patch_cache_control(answer, public=True, max_age=AN_HOUR)
    return answer


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Show the description as a page to try calls from; it is in English, as the description is."""
    with override("en"):
        return render(request, "swagger/docs.html")


@require_safe
def api_problems(request: HttpRequest) -> HttpResponse:
    """List every code, and what it means."""
    return render(request, "api/problems.html", {"kinds": sorted(problems.KINDS.values(), key=lambda kind: kind.code)})


@require_safe
def api_problem(request: HttpRequest, code: str) -> HttpResponse:
    """Say what one code means: the address that a problem gives as its type."""
    kind = problems.KINDS.get(code)
    if kind is None:
        raise Http404
    return render(request, "api/problem.html", {"kind": kind})


@cache
def described() -> dict[str, Any]:
    """Return the description, which is the same to everybody, in English."""
    with override("en"):
        found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
        return found


@cache
def description() -> bytes:
    """Return it as it is sent."""
    return json.dumps(described(), ensure_ascii=False, separators=(",", ":")).encode()
