"""Error responses of API calls that reach no API view: problems, as everywhere below ``/api/``."""

from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import get_language_from_request, override
from django.views import defaults

from casino import views
from players.api.problems import FAULT, MALFORMED, MEDIA_TYPE, NOT_FOUND, TOO_LARGE, TOO_SLOW, Problem

PATH: Final = "/api/"
AT_THE_DOOR: Final = {HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT: TOO_SLOW}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Refuse a request that cannot be parsed or names another host."""
    return Problem(MALFORMED).plain() if _is_call(request) else defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Answer 404."""
    return Problem(NOT_FOUND).plain() if _is_call(request) else defaults.page_not_found(request, exception)


def fault(request: HttpRequest) -> HttpResponseBase:
    """Answer 500."""
    return Problem(FAULT).plain() if _is_call(request) else views.fault(request)


def at_the_door(scope: MutableMapping[str, Any], status: HTTPStatus) -> tuple[str, bytes]:
    """Return content type and body of the problem for a call that the request buffer refuses."""
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    with override(get_language_from_request(request)):
        return MEDIA_TYPE, Problem(AT_THE_DOOR[status]).written()


def _is_call(request: HttpRequest) -> bool:
    return f"/{request.path_info.lstrip('/')}".startswith(PATH)
