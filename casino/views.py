"""Home page, health checks, error pages, which below ``/api/`` are problems, and the offline page.

The service worker caches only the offline page in each language, with its style sheets, script,
icons and fonts. It never caches other pages, which contain the reader's balance. The page is the
same for everybody, so it is rendered without a request.
"""

import hashlib
import json
from functools import cache
from http import HTTPStatus
from typing import Final

from csp.constants import HEADER
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import get_template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import override
from django.views import defaults
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from casino.refusals import API, policy
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
        "demo_play",
        "demo_start",
        "demo_watch",
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
    """Refuse a request that cannot be parsed or names another host, which may be before anything adds the policy."""
    answer = Problem(MALFORMED).plain() if _is_call(request) else defaults.bad_request(request, exception)
    answer.headers.setdefault(HEADER, policy(None))
    return answer


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer 404."""
    return Problem(NOT_FOUND).plain() if _is_call(request) else defaults.page_not_found(request, exception)


def fault(request: HttpRequest) -> HttpResponseBase:
    """Answer 500, to a browser with a page that depends on nothing that may be broken."""
    if _is_call(request):
        return Problem(FAULT).plain()
    return HttpResponse(stand_alone("500", request), status=500)


def _is_call(request: HttpRequest) -> bool:
    return f"/{request.path_info.lstrip('/')}".startswith(API)


FILES = (
    "css/tokens.css",
    "css/base.css",
    "css/parts.css",
    "js/common/appearance.js",
    "icons/sprite.svg",
    "icons/icon.svg",
    "fonts/hanken-grotesk.woff2",
    "fonts/hanken-grotesk-ro.woff2",
    "fonts/newsreader-600.woff2",
    "fonts/newsreader-600-ro.woff2",
)
AN_HOUR = 3600  # seconds until a browser checks for a new version of the worker


@made_by_the_page
@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Show the offline page, in the language of its URL."""
    return HttpResponse(stand_alone("offline", request))


@made_by_the_page
@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Return the worker's script; at the root, because a worker controls only URLs below its own."""
    response = HttpResponse(_script(), content_type="text/javascript; charset=utf-8")
    patch_cache_control(response, public=True, max_age=AN_HOUR)
    return response


def stand_alone(trouble: str, request: HttpRequest) -> str:
    """Render a page without database and session; only the nonce of its scripts comes from the request."""
    return get_template("alone.html").render({"trouble": trouble, "csp_nonce": getattr(request, "csp_nonce", "")})


@cache
def _script() -> str:
    """Return the script with the list of files to cache. A digest of the pages lets browsers notice a change."""
    pages, digest = {}, hashlib.sha256()
    for language, _ in settings.LANGUAGES:
        with override(language):
            pages[language] = reverse("offline")
            digest.update(get_template("alone.html").render({"trouble": "offline"}).encode())
    cached = {
        "version": digest.hexdigest()[:12],
        "pages": pages,
        "otherwise": settings.LANGUAGE_CODE,
        "files": [static(name) for name in FILES],
    }
    return get_template("service_worker.js").render({"cached": json.dumps(cached)})
