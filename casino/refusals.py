"""Answers of the server to requests that reach no view, because their body was not accepted.

They depend on no database and no session, and are rendered once per language.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from os import urandom
from typing import Any, Final

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponseBase, parse_cookie
from django.template.loader import get_template
from django.utils.translation import get_language_from_request, override

from ops.http import BARE
from ops.http.bodies import Message
from ops.http.pages import Headers
from players.api.problems import MEDIA_TYPE, TOO_LARGE, TOO_OFTEN, TOO_SLOW, Problem

NONCE: Final = "{nonce}"  # stands for the nonce in a prepared text


class ContentPolicy(CSPMiddleware):
    """Adds the header. Building the text takes a fifth of a millisecond, and only the nonce differs."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the policy, with what a view has replaced in it and the nonce if the page has used one."""
        nonce = getattr(request, "_csp_nonce", None)
        if HEADER not in response.headers:
            response.headers[HEADER] = policy(nonce, getattr(response, "_csp_replace", None))
        if nonce is None:  # a nonce that is used from now on would not be in the header
            request.csp_nonce = _TooLate()  # type: ignore[attr-defined]
        return response


class _TooLate:
    """A nonce that cannot be used any more."""

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return str(CSPMiddleware._csp_nonce_post_response())


def make_nonce() -> str:
    """Return a new nonce, for a page that no middleware sees."""
    return b64encode(urandom(16)).decode("ascii")


def policy(nonce: str | None, replaced: Mapping[str, Any] | None = None) -> str:
    """Return the policy of the settings, with some directives *replaced*."""
    text = _prepared(nonce is not None, json.dumps(replaced) if replaced else "")
    return text if nonce is None else text.replace(NONCE, nonce)


@cache
def _prepared(has_nonce: bool, replaced: str) -> str:
    replace = json.loads(replaced) if replaced else None
    return str(build_policy(replace=replace, nonce=NONCE if has_nonce else None))


API: Final = "/api/"
CODES: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TOO_LARGE,
    HTTPStatus.REQUEST_TIMEOUT: TOO_SLOW,
    HTTPStatus.TOO_MANY_REQUESTS: TOO_OFTEN,
}
OWN_NONCE: Final = "the-nonce-of-one-answer"
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
        return headers, _page(status, language).replace(OWN_NONCE, nonce).encode()


@cache
def _page(status: HTTPStatus, language: str) -> str:
    return get_template("alone.html").render({"trouble": str(status.value), "csp_nonce": OWN_NONCE})


def _language(scope: Message) -> str:
    request = HttpRequest()
    headers: dict[bytes, bytes] = dict(scope["headers"])
    request.path_info = scope["path"]
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", b"").decode("latin-1")
    request.COOKIES = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    return get_language_from_request(request, check_path=True)
