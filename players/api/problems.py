"""API errors as problem details (RFC 9457): a code for clients and a sentence in the reader's language.

The module that raises a code registers it once; a code never changes its meaning. Documentation and
schema list the codes from here.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_noop as _
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

FIELD_ERRORS = (
    _("Must be a valid UUID."),
    _("Must be a valid boolean."),
    _("Not a valid string."),
    _("Datetime value out of range."),
    _("This dictionary may not be empty."),
    _("Ensure this field has at least {min_length} elements."),
    _("Ensure this field has no more than {max_length} elements."),
    _("Surrogate characters are not allowed: U+{code_point:X}."),
)


MEDIA_TYPE: Final = "application/problem+json"
TYPES: Final = "/api/problems/"  # prefix of the URL that identifies a code


@dataclass(frozen=True)
class Kind:
    """The status and title of a code."""

    code: str
    status: int
    title: str | Promise


KINDS: Final[dict[str, Kind]] = {}


def register(code: str, status: int, title: str | Promise) -> str:
    """Register *code* and return it. Raises ValueError if it is registered with another meaning."""
    kind = Kind(code, status, title)
    if KINDS.setdefault(code, kind) != kind:
        raise ValueError(f"{code!r} means something else already")
    return code


MALFORMED = register("malformed", HTTPStatus.BAD_REQUEST, gettext_lazy("The request cannot be read"))
INVALID = register("invalid", HTTPStatus.BAD_REQUEST, gettext_lazy("The request is not valid"))
NO_TOKEN = register("token-refused", HTTPStatus.UNAUTHORIZED, gettext_lazy("The token is missing or not valid"))
FORBIDDEN = register("forbidden", HTTPStatus.FORBIDDEN, gettext_lazy("The token does not allow this action"))
NOT_FOUND = register("not-found", HTTPStatus.NOT_FOUND, gettext_lazy("Not found"))
NOT_SEALED = register("not-sealed", HTTPStatus.NOT_FOUND, gettext_lazy("No signed checkpoint covers this entry"))
METHOD = register(
    "method-not-allowed", HTTPStatus.METHOD_NOT_ALLOWED, gettext_lazy("This address does not support this method")
)
MEDIA = register(
    "unsupported-media-type", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, gettext_lazy("Send JSON: application/json")
)
TOO_LARGE = register("too-large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, gettext_lazy("The request is too large"))
TOO_SLOW = register("too-slow", HTTPStatus.REQUEST_TIMEOUT, gettext_lazy("The request took too long to arrive"))
TOO_OFTEN = register("too-often", HTTPStatus.TOO_MANY_REQUESTS, gettext_lazy("Too many requests in a short time"))
KEY_MISSING = register(
    "idempotency-key-missing", HTTPStatus.BAD_REQUEST, gettext_lazy("The Idempotency-Key header is missing")
)
KEY_REUSED = register(
    "idempotency-key-reused", HTTPStatus.CONFLICT, gettext_lazy("This Idempotency-Key was sent with another request")
)
FAULT = register("fault", HTTPStatus.INTERNAL_SERVER_ERROR, gettext_lazy("Something went wrong on our side"))

OF_THE_FRAMEWORK: Final[Mapping[type[Exception], str]] = {
    exceptions.ParseError: MALFORMED,
    exceptions.ValidationError: INVALID,
    exceptions.AuthenticationFailed: NO_TOKEN,
    exceptions.NotAuthenticated: NO_TOKEN,
    exceptions.PermissionDenied: FORBIDDEN,
    PermissionDenied: FORBIDDEN,
    exceptions.NotFound: NOT_FOUND,
    Http404: NOT_FOUND,
    exceptions.MethodNotAllowed: METHOD,
    exceptions.UnsupportedMediaType: MEDIA,
    exceptions.Throttled: TOO_OFTEN,
}


@dataclass(frozen=True)
class FieldError:
    """An error in one field. *pointer* is its JSON pointer, or ``?name`` for a query parameter."""

    pointer: str
    code: str
    detail: str


class Problem(Exception):
    """A refusal: a registered code, an optional sentence of detail, and additional members.

    `calls.once` stores a problem under the idempotency key like any answer. With *is_kept* false it
    is not stored: nothing has happened, and a repeated call is processed again.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        errors: Iterable[FieldError] = (),
        headers: Mapping[str, str] = {},
        is_kept: bool = True,
        **more: Any,
    ) -> None:
        super().__init__(code, detail)
        self.kind = KINDS[code]
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers)
        self.is_kept = is_kept
        self.more = more

    def body(self) -> dict[str, Any]:
        """Return the members of the problem, in the active language."""
        body: dict[str, Any] = {
            "type": f"{TYPES}{self.kind.code}/",
            "title": str(self.kind.title),
            "status": self.kind.status,
            "code": self.kind.code,
        }
        if self.detail:
            body["detail"] = self.detail
        if self.errors:
            body["errors"] = [vars(error) for error in self.errors]
        return body | self.more

    def answer(self) -> Response:
        """Return the problem as a response of Django REST framework."""
        return Response(self.body(), self.kind.status, headers=self.headers, content_type=MEDIA_TYPE)

    def plain(self) -> HttpResponse:
        """Return the problem as a plain Django response, for requests that reach no API view."""
        return HttpResponse(self.written(), MEDIA_TYPE, self.kind.status, headers=self.headers)

    def written(self) -> bytes:
        """Return the problem as UTF-8 JSON."""
        return json.dumps(self.body(), ensure_ascii=False, separators=(",", ":")).encode()


def answer_for(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Return the problem for an exception of a view, or None for an unexpected error."""
    if isinstance(error, Problem):
        return error.answer()
    code = next((code for kind, code in OF_THE_FRAMEWORK.items() if isinstance(error, kind)), None)
    if code is None:
        return None
    headers: dict[str, str] = {}
    if isinstance(error, exceptions.Throttled):
        headers["Retry-After"] = str(vars(error)["wait"])  # seconds; the framework's type stubs omit it
    if isinstance(error, exceptions.MethodNotAllowed):
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    if code == NO_TOKEN:
        headers["WWW-Authenticate"] = 'Bearer realm="api"'
    errors = tuple(field_errors(error.detail)) if isinstance(error, exceptions.ValidationError) else ()
    return Problem(code, errors=errors, headers=headers).answer()


def field_errors(detail: Any, pointer: str = "") -> Iterable[FieldError]:
    """Yield the errors of a ValidationError, field by field."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            part = str(name).replace("~", "~0").replace("/", "~1")
            yield from field_errors(inner, pointer if name == "non_field_errors" else f"{pointer}/{part}")
    elif isinstance(detail, list):
        for place, inner in enumerate(detail):
            yield from field_errors(inner, f"{pointer}/{place}" if isinstance(inner, Mapping | list) else pointer)
    else:
        yield FieldError(pointer, str(getattr(detail, "code", "invalid")).replace("_", "-"), str(detail))


@csrf_exempt
def nowhere(request: HttpRequest, path: str = "") -> HttpResponse:
    """Return "not found" for an unknown API URL."""
    return Problem(NOT_FOUND).plain()
