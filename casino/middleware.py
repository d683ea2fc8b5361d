"""What holds for every request and every page, whoever asks."""

from collections.abc import Callable
from http import HTTPStatus

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control

from ops import headers

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def guard_all(get_response: GetResponse) -> GetResponse:
    """Say with every answer, a file's too, what browsers need not give the house, and that no other site embeds it."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        for name, value in headers.FOR_ALL.items():
            response.headers.setdefault(name, value)
        return response

    return middleware


def refuse_garbled(get_response: GetResponse) -> GetResponse:
    """Answer 400 to what no browser sends and the database cannot store.

    Django decodes a multipart form by any codec of Python's that it names, some of which yield lone surrogates; and a
    quoted cookie may hold a NUL.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if (request.encoding or "utf-8").lower() not in ("utf-8", "utf8"):
            raise BadRequest("a form that is not in UTF-8")
        if any("\0" in value for value in request.COOKIES.values()):
            raise BadRequest("a cookie with a NUL in it")
        return get_response(request)

    return middleware


def keep_nothing(get_response: GetResponse) -> GetResponse:
    """Let neither browser nor proxy keep a page: it has its reader's token in it, and mostly a balance, which the
    next one at the same browser would see by going back after a log-out.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, no_store=True, private=True)
        return response

    return middleware


def show_no_bare_refusal(get_response: GetResponse) -> GetResponse:
    """Answer with a page of the house where a browser asks for an address that only takes forms: someone typed it, or
    changed the language on the page that answered a form. A program is told by the API.
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
