"""Middleware for every request and page."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.datastructures import MultiValueDict
from django_htmx.middleware import HtmxDetails

from ops.http import FOR_ALL

GetResponse = Callable[[HttpRequest], HttpResponseBase]
FORM: Final = "application/x-www-form-urlencoded"


def guard_all(get_response: GetResponse) -> GetResponse:
    """Add the Permissions-Policy and Cross-Origin-Resource-Policy headers to every response, including files."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        for name, value in FOR_ALL.items():
            response.headers.setdefault(name, value)
        return response

    return middleware


def refuse_garbled(get_response: GetResponse) -> GetResponse:
    """Answer 400 to requests that no browser sends and the database cannot store.

    Django decodes a multipart form with any Python codec that it names, and some yield lone
    surrogates. A quoted cookie can contain a NUL.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if (request.encoding or "utf-8").lower() not in ("utf-8", "utf8"):
            raise BadRequest("a form that is not in UTF-8")
        if any("\0" in value for value in request.COOKIES.values()):
            raise BadRequest("a cookie with a NUL in it")
        if request.method == "POST" and request.content_type == FORM:
            request._post, request._files = form_of(request.body), MultiValueDict()  # type: ignore[attr-defined]
        return get_response(request)

    return middleware


def form_of(body: bytes) -> QueryDict:
    """Return the fields of a form as Django reads them, which makes thirty calls for each. Raises TooManyFieldsSent."""
    fields: dict[str, list[str]] = {}
    try:
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        for name, value in parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=most):
            fields.setdefault(name, []).append(value)
    except ValueError:  # not in UTF-8, or too many: Django says what it is
        return QueryDict(body, encoding="utf-8")
    form = QueryDict(mutable=True, encoding="utf-8")
    dict.update(form, fields)  # past the method of a form, which appends one by one
    form._mutable = False
    return form


class Htmx(HtmxDetails):
    """Details of an htmx request. The object is true if htmx made the request."""

    def __bool__(self) -> bool:
        return self.request.META.get("HTTP_HX_REQUEST") == "true"  # request.headers is a second copy of all headers


def know_htmx(get_response: GetResponse) -> GetResponse:
    """Set ``request.htmx``."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        request.htmx = Htmx(request)  # type: ignore[attr-defined]
        return get_response(request)

    return middleware


def keep_for_everybody(response: HttpResponse, how: str) -> HttpResponse:
    """Let any cache keep a response that is the same for every reader, in every language."""
    response["Cache-Control"] = how
    response.is_for_everybody = True  # type: ignore[attr-defined]
    return response


def keep_nothing(get_response: GetResponse) -> GetResponse:
    """Forbid caching of pages: they contain the reader's CSRF token and mostly a balance. Otherwise
    the next user of the browser could see them with the back button after a logout.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, no_store=True, private=True)
        elif getattr(response, "is_for_everybody", False):  # what other middleware has read made no difference
            del response.headers["Vary"]
            del response.headers["Content-Language"]
            response.cookies.clear()
        return response

    return middleware


def show_no_bare_refusal(get_response: GetResponse) -> GetResponse:
    """Answer with an HTML page where a browser requests a POST-only URL with GET: the user typed
    it, or changed the language on the response to a form. API clients get an error of the API.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        is_bare = response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not getattr(response, "content", b"")
        if not is_bare or request.method != "GET":
            return response
        page = render(request, "404.html", {"code": response.status_code}, status=response.status_code)
        page["Allow"] = response["Allow"]
        return page

    return middleware
