"""Home page, health checks, and error pages, which below ``/api/`` are problems."""

from http import HTTPStatus
from typing import Final

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import override
from django.views import defaults
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from casino.offline import stand_alone
from casino.refusals import API
from ops.readiness import MONITOR
from players.access import HouseRequest, ask_to_log_in, made_by_the_page
from players.api.problems import FAULT, MALFORMED, NOT_FOUND, Problem
from players.login.current_user import staff_of

SECONDS_TO_WAIT: Final = 300  # the longest period over which allauth counts attempts of an address or name
FOR_VISITORS = frozenset(  # forms of these pages
    {
        "account_login",
        "account_signup",
        "account_unlock",
        "account_email_verification_sent",
        "account_reset_password",
        "account_confirm_password_reset_code",
        "account_complete_password_reset",
        "mfa_authenticate",
        "mfa_login_webauthn",
        "account_logout",
        "guest_play",
        "guest_start",
        "guest_watch",
        "set_language",
        "session_stay",
        "sandbox_bank",
    }
)


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Redirect staff to the back office, and others to the lobby, players in the language they chose."""
    if not request.user.is_authenticated:
        return redirect("lobby")
    if staff_of(request.user):
        return redirect("staff_home")
    with override(request.user.language):
        return redirect("lobby")


@made_by_the_page
@never_cache
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Answer "ok" if the database answers, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("database unreachable\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")


@made_by_the_page
@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Report whether this process is ready for requests; 503 and what is missing if not (`ops.readiness`)."""
    found = MONITOR.now()
    return HttpResponse(str(found), status=503 if found.faults else 200, content_type="text/plain")


def csrf_failure(request: HouseRequest, reason: str = "") -> HttpResponse:
    """Refuse a form whose CSRF token is not the session's; usually its page was loaded before a
    login.

    A visitor is asked to log in, unless the form is for visitors. An htmx request makes its page
    reload.
    """
    asked = request.resolver_match
    if not request.user.is_authenticated and asked and asked.view_name not in FOR_VISITORS:
        return ask_to_log_in(request)
    response = render(request, "403_csrf.html", status=403)
    if request.htmx:
        response["HX-Refresh"] = "true"
    return response


def too_often(request: HttpRequest) -> HttpResponse:
    """Tell a user to wait after too many login attempts."""
    answer = render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)
    answer["Retry-After"] = str(SECONDS_TO_WAIT)
    return answer


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Refuse a request that cannot be parsed or names another host."""
    return Problem(MALFORMED).plain() if _is_call(request) else defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer 404."""
    return Problem(NOT_FOUND).plain() if _is_call(request) else defaults.page_not_found(request, exception)


def fault(request: HttpRequest) -> HttpResponseBase:
    """Answer 500, to a browser with a page that depends on nothing that may be broken."""
    if _is_call(request):
        return Problem(FAULT).plain()
    return HttpResponse(stand_alone("500.html", request), status=500)


def _is_call(request: HttpRequest) -> bool:
    return f"/{request.path_info.lstrip('/')}".startswith(API)
