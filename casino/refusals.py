"""Answers of the server to requests that reach no view, because their body was not accepted.

They depend on no database and no session, and are rendered once per language.
"""

from functools import cache
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, parse_cookie
from django.template.loader import get_template
from django.utils.translation import get_language_from_request, override

from casino.content_policy import make_nonce, policy
from ops.headers import BARE
from ops.http.bodies import Message
from ops.http.pages import Headers
from players.api.problems import MEDIA_TYPE, TOO_LARGE, TOO_OFTEN, TOO_SLOW, Problem

API: Final = "/api/"
CODES: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TOO_LARGE,
    HTTPStatus.REQUEST_TIMEOUT: TOO_SLOW,
    HTTPStatus.TOO_MANY_REQUESTS: TOO_OFTEN,
}
PAGES: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "413.html",
    HTTPStatus.REQUEST_TIMEOUT: "408.html",
    HTTPStatus.TOO_MANY_REQUESTS: "429_uploads.html",
}
NONCE: Final = "the-nonce-of-one-answer"
POLICY: Final = b"content-security-policy"


def answer(scope: Message, status: HTTPStatus) -> tuple[Headers, bytes]:
    """Return headers and body of a refusal: a problem for an API client, a page for everybody else.

    The language is that of the address, or else the one that the browser asks for.
    """
    language = _language(scope)
    with override(language):
        if scope["path"].startswith(API):
            return [(b"content-type", MEDIA_TYPE.encode()), *BARE], Problem(CODES[status]).written()
        nonce = make_nonce()
        headers = [(name, value) for name, value in BARE if name != POLICY]
        headers += [(POLICY, policy(nonce).encode()), (b"content-type", b"text/html; charset=utf-8")]
        return headers, _page(status, language).replace(NONCE, nonce).encode()


@cache
def _page(status: HTTPStatus, language: str) -> str:
    return get_template(PAGES[status]).render({"csp_nonce": NONCE})


def _language(scope: Message) -> str:
    request = HttpRequest()
    headers: dict[bytes, bytes] = dict(scope["headers"])
    request.path_info = scope["path"]
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", b"").decode("latin-1")
    request.COOKIES = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    return get_language_from_request(request, check_path=True)
